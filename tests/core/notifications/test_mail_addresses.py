"""Which texts are email addresses, and how their domains are written."""

from pathlib import Path

import pytest

from core.errors import ConfigError
from notify.addresses import AddressRefused, read_address
from onevalet.settings import load_settings


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("ann@Example.org", "ann@example.org"),
        ("ann@müller.de", "ann@xn--mller-kva.de"),
        ("ann@MÜLLER.de", "ann@xn--mller-kva.de"),
        ("ann@xn--mller-kva.de", "ann@xn--mller-kva.de"),
        (" li@例え.jp ", "li@xn--r8jz45g.jp"),
        ("ann@straße.de", "ann@xn--strae-oqa.de"),
    ],
)
def test_a_domain_in_any_script_is_read_as_dns_writes_it(typed: str, read: str) -> None:
    assert read_address("email", typed).address == read


@pytest.mark.parametrize(
    "typed", ["ann", "ann@", "@müller.de", "ann@müller", "ann@mül ler.de", "ann@-ü-.de", "ann@ü_.de", "a\n@müller.de"]
)
def test_what_is_no_email_address_is_refused(typed: str) -> None:
    with pytest.raises(AddressRefused, match="not an email address"):
        read_address("email", typed)


def test_the_sender_may_have_any_domain_and_must_have_an_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    host = "mail.example.org"
    read = load_settings(smtp_host=host, smtp_from="Valet <valet@müller.de>").smtp_from
    assert read == "Valet <valet@xn--mller-kva.de>"
    assert load_settings(smtp_host=host, smtp_from="Valet <valet@a.de>").smtp_from == "Valet <valet@a.de>"
    with pytest.raises(ConfigError, match="SMTP_FROM cannot be used: must be an address"):
        load_settings(smtp_host=host, smtp_from="Valet")
