"""Proof of a mail's sender: the receiving server's own Authentication-Results; pure.

Senders may write any From, and any header below those of the receiving server. So only its topmost header counts, and
in it only results that bind the domain of the From: DMARC, or a DKIM signature of that domain. SPF is about another
address.
Source: RFC 8601, RFC 7489 section 3.1; CVE-2020-12272 (a comment left open in header.d), "Composition Kills" (USENIX
Security 2020), CERT/CC VU#517845 (several addresses in a From).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

_PLAIN = re.compile(r"[A-Za-z0-9_.@+-]{1,320}")
_DOMAIN = re.compile(r"[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})+")
_PROVING = frozenset({"dmarc", "dkim"})
_NOT_PUBLISHED = frozenset({"none", "bestguesspass"})
"""DMARC's results for a domain without a policy, which prove nothing; the second is Microsoft's."""


@dataclass(frozen=True, slots=True)
class MethodResult:
    """The result of a method, such as dkim=pass with header.d=example.org."""

    method: str
    value: str
    properties: Mapping[str, str] = field(default_factory=dict)


def is_authentic(headers: Sequence[str], authserv_id: str, domain: str) -> bool:
    """Return whether the server `authserv_id` proved that a mail comes from a domain.

    `headers`: all Authentication-Results, the topmost first. Total: an unreadable or ambiguous header is no proof.
    """
    results = _results_of(headers, authserv_id.lower())
    if results is None or not domain:
        return False
    dmarc = [result for result in results if result.method == "dmarc"]
    if len(dmarc) > 1:
        return False
    for result in dmarc:
        if result.value not in _NOT_PUBLISHED:
            return result.value == "pass" and _domain(result.properties.get("header.from", "")) == domain
    signed = [result for result in results if (result.method, result.value) == ("dkim", "pass")]
    return any(_is_aligned(_signer(result), domain) for result in signed)


def read_results(header: str) -> tuple[str, tuple[MethodResult, ...]] | None:
    """Return the server's id and the results in a header; None if it is malformed."""
    pieces = _pieces(header)
    if not pieces or not (named := pieces[0].split()) or named[1:] not in ([], ["1"]):
        return None
    results = list[MethodResult]()
    for piece in pieces[1:]:
        method, result = _read_result(piece)
        if result is not None:
            results.append(result)
        elif method in _PROVING:
            return None
    return named[0].lower(), tuple(results)


def _results_of(headers: Sequence[str], authserv_id: str) -> tuple[MethodResult, ...] | None:
    """Return the results of a server's topmost header; None if there is none, or if a header above it is unreadable.

    An unreadable header may be the server's own, spoilt by a quote from the sender; those below may be forged.
    """
    for header in headers:
        read = read_results(header)
        if read is None:
            return None
        if read[0] == authserv_id:
            return read[1]
    return None


def _read_result(piece: str) -> tuple[str, MethodResult | None]:
    """Return the method of a result, and the result; None in its place if it can be read in several ways."""
    first, *others = re.sub(r" *= *", "=", " ".join(piece.split())).split() or [""]
    method, _, value = first.lower().partition("=")
    name, _, version = method.partition("/")
    named = [item.partition("=") for item in others]
    properties = {name.lower(): text for name, _, text in named}
    # A repeated name, or a word without a name, comes from the sender's text.
    if not value or version not in ("", "1") or len(properties) < len(named) or not all(text for *_, text in named):
        return name, None
    return name, MethodResult(name, value, properties)


def _pieces(header: str) -> list[str]:
    """Return the texts between semicolons, without comments; none if a comment or quote is left open.

    A quoted text may hold anything that the sender chose: only a plain word of it is kept.
    """
    pieces, depth, at = [""], 0, 0
    while at < len(header):
        char = header[at]
        if char == "\\" and depth:
            at += 1
        elif char == "(":
            depth += 1
            pieces[-1] += " "
        elif char == ")" and depth:
            depth -= 1
        elif depth:
            pass
        elif char == '"':
            quoted = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL).match(header, at)
            if quoted is None:
                return []
            pieces[-1] += quoted[1] if _PLAIN.fullmatch(quoted[1]) else "?"
            at = quoted.end() - 1
        elif char == ";":
            pieces.append("")
        else:
            pieces[-1] += char
        at += 1
    return [] if depth else pieces


def _signer(result: MethodResult) -> str:
    """Return the signing domain; empty if two domains are named and neither covers the other."""
    signer, identity = (result.properties.get(f"header.{name}") for name in ("d", "i"))
    domains = [_domain(text) for text in (signer, identity) if text is not None]
    if len(domains) == 2 and not _is_aligned(domains[0], domains[1]):
        return ""
    return domains[0] if domains else ""


def _domain(text: str) -> str:
    """Return the domain of an address, or a domain alone, in lower case; empty if it is not a domain."""
    domain = text.rpartition("@")[2].removesuffix(".").lower() if text.isascii() and text.count("@") < 2 else ""
    return domain if _DOMAIN.fullmatch(domain) else ""


def _is_aligned(signer: str, domain: str) -> bool:
    """Return whether a signer speaks for a domain: the same domain, or a parent of it.

    DMARC also accepts a subdomain, by the list of public suffixes; without the list, a customer of a domain could then
    speak for another customer.
    """
    return bool(signer) and (domain == signer or domain.endswith(f".{signer}"))
