"""Proof of who wrote a mail: what the receiving server states in its own Authentication-Results; pure.

Anybody may write any From, and any header below those of the receiving server. So only its topmost header counts, and
of it only what binds the domain of the From: DMARC, or a DKIM signature of that domain. SPF is about another address.
Source: RFC 8601, RFC 7489 section 3.1.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

_PLAIN = re.compile(r"[A-Za-z0-9_.@+-]{1,320}")
_NOT_PUBLISHED = frozenset({"none", "bestguesspass"})
"""DMARC's words for a domain without a policy, of which nothing is said; the second is Microsoft's."""


@dataclass(frozen=True, slots=True)
class MethodResult:
    """One method's result, such as dkim=pass with header.d=example.org."""

    method: str
    value: str
    properties: Mapping[str, str] = field(default_factory=dict)


def is_authentic(headers: Sequence[str], authserv_id: str, domain: str) -> bool:
    """Return whether the server `authserv_id` proved that a mail comes from a domain.

    `headers`: all Authentication-Results, the topmost first. Total: what cannot be read proves nothing.
    """
    results = next((read for read in map(read_results, headers) if read and read[0] == authserv_id.lower()), None)
    if results is None or not domain:
        return False
    dmarc = [result for result in results[1] if result.method == "dmarc"]
    if len(dmarc) > 1:
        return False
    for result in dmarc:
        if result.value not in _NOT_PUBLISHED:
            return result.value == "pass" and _domain(result.properties.get("header.from", "")) == domain
    signed = [result for result in results[1] if (result.method, result.value) == ("dkim", "pass")]
    return any(_is_aligned(_signer(result), domain) for result in signed)


def read_results(header: str) -> tuple[str, tuple[MethodResult, ...]] | None:
    """Return the server's id and the results of one header; None where it is not well-formed."""
    pieces = _pieces(header)
    if not pieces or not (named := pieces[0].split()):
        return None
    results = [read for piece in pieces[1:] if (read := _read_result(piece))]
    return named[0].lower(), tuple(results)


def _read_result(piece: str) -> MethodResult | None:
    first, *others = re.sub(r"\s*=\s*", "=", piece).split() or [""]
    method, _, value = first.partition("=")
    if not value:
        return None
    properties = {name.lower(): text for name, _, text in (item.partition("=") for item in others)}
    return MethodResult(method.partition("/")[0].lower(), value.lower(), properties)


def _pieces(header: str) -> list[str]:
    """Return what stands between semicolons, without comments; none where a comment or quote is left open.

    What is quoted may hold anything that the sender chose: only a plain word of it is kept.
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
    return _domain(result.properties.get("header.d", "") or result.properties.get("header.i", ""))


def _domain(text: str) -> str:
    return text.rpartition("@")[2].lower().rstrip(".")


def _is_aligned(signer: str, domain: str) -> bool:
    """Return whether a signer speaks for a domain: itself, or one above it.

    DMARC also takes one below it, by the list of public suffixes; without the list that would let one customer of a
    domain speak for another.
    """
    return "." in signer and (domain == signer or domain.endswith(f".{signer}"))
