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
    "empty": "",
}


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
