"""Which Authentication-Results prove that a mail comes from a domain."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.email.verify import is_authentic, read_results

OURS = "mx.example.org"
PROOFS = {
    "DMARC": "mx.example.org; dmarc=pass header.from=example.com",
    "DKIM of the domain": "mx.example.org; dkim=pass header.d=example.com",
    "DKIM by its identity": "mx.example.org; dkim=pass header.i=@example.com",
    "one DKIM of several": "mx.example.org; dkim=pass header.d=com.example; dkim=pass header.d=EXAMPLE.com",
    "no policy, but DKIM": "mx.example.org; dmarc=none header.from=example.com; dkim=pass header.d=example.com",
    "Gmail's": "mx.example.org;\r\n dkim=pass header.i=@example.com header.s=a header.b=Xy;\r\n spf=pass (google.com: "
    "domain of a@b designates 1.2.3.4 as permitted sender) smtp.mailfrom=a@b;\r\n dmarc=pass (p=NONE sp=NONE dis=NONE) "
    "header.from=example.com",
    "Microsoft's": "mx.example.org; spf=pass (sender IP is 192.0.2.1) smtp.mailfrom=example.com; dkim=pass (signature "
    "was verified) header.d=example.com;dmarc=pass action=none header.from=example.com;compauth=pass reason=100",
    "Fastmail's": "mx.example.org; dkim=pass (2048-bit rsa key sha256) header.d=example.com header.i=@example.com "
    "header.b=abc header.a=rsa-sha256 header.s=s1 x-bits=2048; dmarc=pass policy.published-domain-policy=reject "
    "policy.applied-disposition=none (p=reject,d=none) policy.policy-from=p header.from=example.com; iprev=pass "
    "smtp.remote-ip=192.0.2.1 (mail.example.com); x-me-sender=none",
    "Rspamd's": "mx.example.org; dkim=pass header.d=example.com header.s=s1 header.b=abc; dmarc=pass (policy=none) "
    "header.from=example.com; spf=pass (mx.example.org: domain of a@b designates 1.2.3.4) smtp.mailfrom=a@b",
    "OpenDKIM's, with a reason": 'mx.example.org; dkim=pass reason="2048-bit key; unprotected" header.d=example.com',
    "an empty sender": 'mx.example.org; spf=pass smtp.mailfrom=""; dmarc=pass header.from=example.com',
    "two signatures of one domain, of which one broke": "mx.example.org; dkim=fail header.d=example.com header.b=a; "
    "dkim=pass header.d=example.com header.b=b",
    "an identity below its signer": "mx.example.org; dkim=pass header.d=example.com header.i=@news.example.com",
    "a version of a method, a dot at the end": "mx.example.org; dmarc/1=pass header.from=example.com.",
    "a whole address": "mx.example.org; dmarc=pass header.from=ann@example.com",
    "a chain that was found good, beside DMARC": "mx.example.org; arc=pass (i=1 dmarc=fail fromdomain=a.b); dmarc=pass "
    "header.from=example.com",
    "a version, spaces, another case": "MX.example.org 1 ; dmarc = Pass (ok (nested)) header.from = Example.COM",
}
NO_PROOFS = {
    "nothing": "mx.example.org; none",
    "another server's": "mx.attacker.net; dmarc=pass header.from=example.com",
    "SPF alone": "mx.example.org; spf=pass smtp.mailfrom=example.com",
    "DKIM of another domain": "mx.example.org; dkim=pass header.d=attacker.net",
    "DKIM of a domain below": "mx.example.org; dkim=pass header.d=mail.example.com",
    "DKIM of a suffix": "mx.example.org; dkim=pass header.d=com",
    "DKIM of a look-alike": "mx.example.org; dkim=pass header.d=ample.com",
    "DKIM failed": "mx.example.org; dkim=fail header.d=example.com",
    "DMARC failed beside DKIM": "mx.example.org; dkim=pass header.d=example.com; dmarc=fail header.from=example.com",
    "DMARC of another domain": "mx.example.org; dmarc=pass header.from=attacker.net",
    "DMARC twice": "mx.example.org; dmarc=fail header.from=example.com; dmarc=pass header.from=example.com",
    "a result in a comment": "mx.example.org; spf=fail (x; dmarc=pass header.from=example.com) smtp.mailfrom=a@b",
    "a result in a quote": 'mx.example.org; spf=fail smtp.mailfrom="x; dmarc=pass header.from=example.com"@b',
    "a result in a reason": 'mx.example.org; dkim=fail reason="; dkim=pass header.d=example.com" header.d=a.b',
    "a comment left open": "mx.example.org; dmarc=pass header.from=example.com (",
    "a quote left open": 'mx.example.org; dmarc=pass header.from=example.com "',
    "an escaped end of a comment": r"mx.example.org; spf=fail (x\); dmarc=pass header.from=example.com)",
    "a domain twice": "mx.example.org; dmarc=pass header.from=attacker.net header.from=example.com",
    "a domain twice, in another order": "mx.example.org; dmarc=pass header.from=example.com HEADER.FROM=attacker.net",
    "a signer twice": "mx.example.org; dkim=pass header.d=attacker.net header.d=example.com",
    "a signer and another identity": "mx.example.org; dkim=pass header.d=example.com header.i=@attacker.net",
    "an identity with a second signer": "mx.example.org; dkim=pass header.d=attacker.net header.i=@example.com",
    "an identity above its signer": "mx.example.org; dkim=pass header.d=mail.example.com header.i=@example.com",
    "a comment within a domain": "mx.example.org; dmarc=pass header.from=example.com(x).attacker.net",
    "a comment within a signer": "mx.example.org; dkim=pass header.d=example.com(x).attacker.net",
    "a space within a signer": "mx.example.org; dkim=pass header.d=example.com .attacker.net",
    "an open comment of the signer's (CVE-2020-12272)": "mx.example.org; dkim=pass header.d=example.com(.attacker.net",
    "a comment of the signer's (CVE-2020-12272)": "mx.example.org; dkim=pass header.d=attacker.net(.example.com)",
    "two addresses in an identity": "mx.example.org; dkim=pass header.i=@attacker.net@example.com",
    "two addresses in a From": "mx.example.org; dmarc=pass header.from=a@attacker.net,b@example.com",
    "two quotes in one value": 'mx.example.org; dmarc=pass header.from="attacker.net, "example.com',
    "a letter that becomes another in lower case": "mx.example.org; dmarc=pass header.from=example.\u212aom",
    "a domain in fullwidth letters": "mx.example.org; dmarc=pass header.from=\uff45xample.com",
    "a NUL in a domain": "mx.example.org; dmarc=pass header.from=example.com\x00.attacker.net",
    "a domain of another type": "mx.example.org; dmarc=pass smtp.mailfrom=example.com",
    "the envelope's domain, as SPF proves it": "mx.example.org; dmarc=none header.from=example.com; spf=pass "
    "smtp.mailfrom=a@example.com",
    "the greeting's domain (CVE-2019-20790)": "mx.example.org; spf=pass smtp.helo=example.com",
    "a login": "mx.example.org; auth=pass smtp.auth=ann@example.com",
    "a chain of others": "mx.example.org; arc=pass (i=1 dmarc=pass fromdomain=example.com) header.from=example.com",
    "methods of other names": "mx.example.org; x-dmarc=pass header.from=example.com; x-dkim=pass header.d=example.com",
    "a version that is not known": "mx.example.org; dmarc/2=pass header.from=example.com",
    "a version of the header that is not known": "mx.example.org 2; dmarc=pass header.from=example.com",
    "another server's name beside ours": "mx.attacker.net mx.example.org; dmarc=pass header.from=example.com",
    "results without a semicolon": "mx.example.org dmarc=pass header.from=example.com",
    "a result that ends otherwise": "mx.example.org; dmarc=pass.fail header.from=example.com",
    "no result": "mx.example.org; dmarc= header.from=example.com",
    "DMARC that could not be asked for": "mx.example.org; dmarc=temperror header.from=example.com; dkim=pass "
    "header.d=example.com",
    "results in the address of the envelope": "mx.example.org; spf=pass smtp.mailfrom=x dkim=pass header.d=example.com",
    "our name below another's": "mx.example.org.attacker.net; dmarc=pass header.from=example.com",
    "empty": "",
}
SPOILT = {
    "a comment left open": "mx.example.org; spf=fail smtp.mailfrom=(@attacker.net; dmarc=fail header.from=example.com",
    "a quote left open": 'mx.example.org; spf=fail smtp.mailfrom="@attacker.net; dmarc=fail header.from=example.com',
    "a signer twice": "mx.example.org; dkim=pass header.d=a.b header.d=c.d; dmarc=fail header.from=example.com",
    "a name that is none": "mx.example.org x y; dmarc=fail header.from=example.com",
    "nothing": "",
}
"""What a server wrote of a hostile mail, with words of its sender's that spoil all of it."""


@pytest.mark.parametrize("header", PROOFS.values(), ids=PROOFS.keys())
def test_promise_12_a_domain_is_proven(header: str) -> None:
    assert is_authentic([header], OURS, "example.com")


@pytest.mark.parametrize("header", NO_PROOFS.values(), ids=NO_PROOFS.keys())
def test_promise_12_a_domain_is_not_proven(header: str) -> None:
    assert not is_authentic([header], OURS, "example.com")


def test_promise_12_only_the_servers_topmost_header_counts() -> None:
    good, bad = PROOFS["DMARC"], "mx.example.org; dmarc=fail header.from=example.com"
    assert not is_authentic([bad, good], OURS, "example.com")
    assert not is_authentic([NO_PROOFS["nothing"], good], OURS, "example.com")
    assert is_authentic([NO_PROOFS["another server's"], good, bad], OURS, "example.com")
    assert not is_authentic([NO_PROOFS["another server's"], bad, good], OURS, "example.com")
    assert not is_authentic([], OURS, "example.com")
    assert not is_authentic([good], OURS, "")


@pytest.mark.parametrize("header", SPOILT.values(), ids=SPOILT.keys())
def test_promise_12_below_a_header_that_cannot_be_read_none_counts(header: str) -> None:
    assert not is_authentic([header, PROOFS["DMARC"]], OURS, "example.com")
    assert is_authentic([PROOFS["DMARC"], header], OURS, "example.com")


def test_a_domain_above_speaks_for_one_below() -> None:
    header = "mx.example.org; dkim=pass header.d=example.com"
    assert is_authentic([header], OURS, "mail.example.com")
    assert not is_authentic([header], OURS, "notexample.com")


@given(st.text(max_size=300))
def test_whatever_a_header_says_is_read_without_an_error(text: str) -> None:
    read_results(text)
    assert not is_authentic([text], OURS, "example.com")


@given(st.text(alphabet='";()\\= \tdmarc=pasheader.from', max_size=60))
def test_promise_12_what_is_quoted_proves_nothing(text: str) -> None:
    quoted = text.replace("\\", "").replace('"', "")
    header = f'mx.example.org; spf=pass smtp.mailfrom="{quoted}; dmarc=pass header.from=example.com"'
    assert not is_authentic([header], OURS, "example.com")
