"""XML of servers: what is read, and what is refused within bounds."""

import time

import pytest

from abilities.dav.xml import CALDAV, DAV, element, read_multistatus, written
from core.errors import ToolFailed

LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
HOSTILE = {
    "laughs": f'<!DOCTYPE a [<!ENTITY l0 "ha">{LAUGHS}]><d:multistatus xmlns:d="DAV:">&l11;</d:multistatus>',
    "file": '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><d:multistatus xmlns:d="DAV:">&x;</d:multistatus>',
    "remote": '<!DOCTYPE a SYSTEM "http://127.0.0.1:9/x.dtd"><d:multistatus xmlns:d="DAV:"/>',
    "deep": '<d:multistatus xmlns:d="DAV:">' + "<d:x>" * 100_000,
    "many": '<d:multistatus xmlns:d="DAV:">' + "<d:x/>" * 300_000 + "</d:multistatus>",
    "open": '<d:multistatus xmlns:d="DAV:"><d:response>',
    "page": "<html><body>Please log in</body></html>",
    "empty": "",
    "utf-7": '<?xml version="1.0" encoding="utf-7"?>+ADw-!DOCTYPE a+AD4-',
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_no_multistatus_is_refused_quickly(name: str) -> None:
    began = time.process_time()
    with pytest.raises(ToolFailed, match="cannot be read"):
        read_multistatus(HOSTILE[name].encode())
    assert time.process_time() - began < 2


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "latin-1"])
def test_no_other_encoding_hides_a_document_type(encoding: str) -> None:
    body = f'<?xml version="1.0" encoding="{encoding}"?>\n{HOSTILE["file"]}é'.encode(encoding)
    with pytest.raises(ToolFailed):
        read_multistatus(body)


def test_what_looks_like_a_document_type_in_a_text_is_read() -> None:
    inside = "DESCRIPTION:<!DOCTYPE html><!ENTITY x>"
    body = (
        '\ufeff<?xml version="1.0"?><d:multistatus xmlns:d="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav"><d:response>'
        "<d:href>/a%20b.ics</d:href><d:propstat><d:prop><d:getetag>&quot;1&quot;</d:getetag>"
        f"<c:calendar-data><![CDATA[{inside}]]></c:calendar-data></d:prop><d:status>HTTP/1.1 200 OK</d:status>"
        "</d:propstat><d:propstat><d:prop><d:displayname/></d:prop><d:status>HTTP/1.1 404 Not Found</d:status>"
        "</d:propstat></d:response><d:response><d:href>/gone</d:href><d:status>HTTP/1.1 404 Not Found</d:status>"
        "</d:response></d:multistatus>"
    )
    kept, gone = read_multistatus(body.encode())
    assert (kept.href, kept.status, kept.text(f"{CALDAV}calendar-data")) == ("/a%20b.ics", 200, inside)
    assert kept.text(f"{DAV}getetag") == '"1"'
    assert f"{DAV}displayname" not in kept.properties
    assert (gone.href, gone.status) == ("/gone", 404)


def test_texts_are_written_escaped() -> None:
    body = written(element(f"{DAV}prop", element(f"{DAV}displayname", 'A & <b> "c"\n')))
    assert b"A &amp; &lt;b&gt;" in body
    assert body.startswith(b"<?xml")
