"""Which addresses are public, and which texts are addresses at all."""

import ipaddress
import socket

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.http.address_guard import Barred, is_public, read_host, read_target

v4 = st.ip_addresses(v=4).map(str)
v6 = st.ip_addresses(v=6).map(str)
# Most random addresses are public or unassigned: draw as many from the special networks.
special = st.sampled_from(
    [
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.168.0.0/16", "198.18.0.0/15", "224.0.0.0/4", "240.0.0.0/4",
    ]
).flatmap(lambda network: st.ip_addresses(v=4, network=network)).map(str)  # fmt: skip
disguises = st.sampled_from(["::ffff:0:0/96", "::/96", "64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/32"])


@settings(deadline=None)
@given(v4 | special)
def test_no_v4_address_is_public_that_the_standard_library_calls_special(address: str) -> None:
    oracle = ipaddress.IPv4Address(address)
    if is_public(address):
        assert oracle.is_global
        assert not any((oracle.is_multicast, oracle.is_reserved, oracle.is_loopback, oracle.is_link_local))
    elif oracle.is_global and not oracle.is_multicast:
        assert (
            address == "168.63.129.16"
            or oracle in ipaddress.ip_network("192.0.0.0/24")
            or address.startswith("192.88.99.")
        )


@settings(deadline=None)
@given(
    v6
    | st.sampled_from(["fc00::/7", "fe80::/10", "ff00::/8", "fec0::/10", "100::/64"])
    .flatmap(lambda network: st.ip_addresses(v=6, network=network))
    .map(str)
)
def test_no_v6_address_is_public_that_the_standard_library_calls_special(address: str) -> None:
    oracle = ipaddress.IPv6Address(address)
    if is_public(address):
        assert oracle.is_global
        assert not any((oracle.is_multicast, oracle.is_reserved, oracle.is_site_local, oracle.is_link_local))
        assert oracle.ipv4_mapped is None
        assert oracle.sixtofour is None
        assert oracle.teredo is None


@settings(deadline=None)
@given(disguises, st.ip_addresses(v=4), st.booleans())
def test_no_disguise_of_a_v4_address_is_public(network: str, inner: ipaddress.IPv4Address, high: bool) -> None:
    base = ipaddress.IPv6Network(network)
    shift = 80 if network == "2002::/16" else 0
    address = ipaddress.IPv6Address(int(base.network_address) | (int(inner) << shift))
    assert not is_public(str(address))
    assert not is_public(address.exploded if high else str(address).upper())


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "1.1.1.1", "93.184.215.14", "2606:4700:4700::1111", "2a00:1450:4001::1"]
)
def test_ordinary_servers_are_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "0.0.0.1", "10.1.2.3", "172.31.255.255", "192.168.1.1", "169.254.169.254", "100.100.100.200",
        "168.63.129.16", "224.0.0.1", "255.255.255.255", "240.0.0.1", "192.0.0.192", "198.19.0.1", "203.0.113.9",
        "::", "::1", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::1",
        "2002:7f00:1::", "2001:0:53aa:64c:0:0:80ff:fffe", "2001:db8::1", "3fff::1", "fe80::1", "fe80::1%eth0",
        "fc00::1", "fd00:ec2::254", "fec0::1", "ff02::1", "100::1", "5f00::1", "4000::1",
        "", "localhost", "127.1", "0x7f.0.0.1", "010.0.0.1", "2130706433", "8.8.8.8 ", "8.8.8.8%1",
    ],
)  # fmt: skip
def test_nothing_else_is_public(address: str) -> None:
    assert not is_public(address)


@settings(deadline=None)
@given(
    st.ip_addresses(v=4),
    st.sampled_from(["{0}", "{0:#x}", "{0:#o}", "0{0:o}", "{1}.{2}", "{1:#x}.{3}.{4}.{5}", "0{1:o}.{3}.{4}.{5}"]),
)
def test_an_unusual_spelling_of_an_address_is_refused_as_a_host(address: ipaddress.IPv4Address, form: str) -> None:
    value = int(address)
    a, b, c, d = address.packed
    text = form.format(value, a, value & 0xFFFFFF, b, c, d)
    try:
        taken = socket.inet_aton(text) is not None
    except OSError:
        taken = False
    try:
        canonical = str(ipaddress.IPv4Address(text)) == text
    except ValueError:
        canonical = False
    if taken and not canonical:
        with pytest.raises(Barred):
            read_host(text)
        with pytest.raises(Barred):
            read_target(f"http://{text}/")


@settings(deadline=None)
@given(st.text(max_size=40))
def test_any_text_is_a_whole_target_or_barred(text: str) -> None:
    for url in (text, f"http://{text}/", f"https://example.com{text}"):
        try:
            target = read_target(url)
        except Barred:
            continue
        assert target.scheme in ("http", "https")
        assert "@" not in target.url.raw_authority
        assert 0 < target.port < 65536
        assert target.literal or read_host(target.host) == target.host


@pytest.mark.parametrize(
    "url",
    [
        "", "example.com", "//example.com/", "file:///etc/passwd", "ftp://example.com/", "gopher://example.com/",
        "javascript:alert(1)", "data:text/plain,x", "unix:///run/x.sock", "http+unix://x/", "ws://example.com/",
        "http://", "http:///path", "http://:80/", "http://user@example.com/", "http://user:pw@example.com/",
        "http://@example.com/", "http://example.com@127.0.0.1/", "http://127.0.0.1\\@example.com/",
        "http://example.com\\.evil.example/", "http://exa mple.com/", "http://example.com/\r\nHost: x",
        "http://example.com\t/", " http://example.com/", "http://example.com/\x00", "http://example.com:99999/",
        "http://example.com:0/", "http://example.com:-1/", "http://example.com:80:80/", "http://[::1/", "http://::1/",
        "http://[fe80::1%25eth0]/", "http://[v1.x]/", "http://127.1/", "http://0/", "http://0x7f000001/",
        "http://2130706433/", "http://017700000001/", "http://127.0.0.1.:80/", "http://0177.0.0.1/", "http://1.2.3.4.5/",
        "http://127.0.0.0x1/", "http://%31%32%37.0.0.1/", "http://a..b/", "http://.example.com/",
        "http://" + "a" * 300 + ".com/", "http://example.com/" + "a" * 8000,
    ],
)  # fmt: skip
def test_what_two_readers_could_read_two_ways_is_barred(url: str) -> None:
    with pytest.raises(Barred):
        read_target(url)


@pytest.mark.parametrize(
    ("url", "host", "port"),
    [
        ("http://Example.COM", "example.com", 80),
        ("https://example.com./x?y=1#z", "example.com", 443),
        ("HTTPS://example.com:8443/", "example.com", 8443),
        ("http://münchen.example/straße", "xn--mnchen-3ya.example", 80),
        ("http://[2606:4700::1111]/", "2606:4700::1111", 80),
        ("http://_dmarc.example.com/", "_dmarc.example.com", 80),
        ("http://8.8.8.8/", "8.8.8.8", 80),
    ],
)
def test_ordinary_addresses_are_read(url: str, host: str, port: int) -> None:
    target = read_target(url)
    assert (target.host, target.port, target.url.fragment) == (host, port, "")


@pytest.mark.parametrize("host", ["①②⑦.⓪.⓪.①", "１２７.0.0.1", "127。0。0。1"])
def test_other_scripts_digits_never_lead_past_the_door(host: str) -> None:
    try:
        target = read_target(f"http://{host}/")
    except Barred:
        return
    assert target.literal
    assert not is_public(target.host)
