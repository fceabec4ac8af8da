"""Walks over all that the console answers, as it is registered."""

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from operations.console.sign_in import PATH
from tests.operations.console.browser import Browser
from tests.operations.console.harness import BOB, Console
from tests.operations.console.lives import HERS, HIS, belongings, two_lives

OPEN = ("/sign-in/{token}",)
"""Addresses that answer without a session."""
NOT_WALKED = (f"{PATH}/live", f"{PATH}/sign-out", *OPEN)
"""A stream, which ends with its page, and the end of the session. `test_live_people.py` asks what a stream tells."""
_PART = re.compile(r"{(\w+)(?::([^}]*))?}")
_FORM = {
    "do": "drop", "number": "1", "code": "ABC-234", "line": "1. tea", "text": "I like tea.", "name": "tea",
    "role": "member", "channel": "push", "address": "topic", "service": "acme", "account": "tea", "prefer.name": "Eve",
}  # fmt: skip
"""A value for each field of any form."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer of the console to a route, with its headers and its body."""

    route: str
    status: int
    whole: str = field(repr=False)

    def tells(self, texts: frozenset[str]) -> bool:
        return any(text in self.whole for text in texts)


def registered(console: Console, method: str, tenant: str = "t1", other: str = "t1") -> list[str]:
    """Return an address of each route that needs a session: with a person, and with another id, in its parts."""
    paths = [route.path for route in console.routes if route.method == method and not route.path.endswith(OPEN)]
    return [next(filled(path, {"tenant": [tenant], "": [other]})) for path in paths]


async def walk(console: Console, browser: Browser, tenant: str, ids: Sequence[str], word: str) -> list[Answer]:
    """Open each page about a person, and send each form about them, by each of some ids; return the answers."""
    await browser.get(PATH)
    proof, answers = {"proof": browser.proof}, list[Answer]()
    for route in sorted(console.routes, key=lambda route: route.method):
        if route.path.endswith(NOT_WALKED):
            continue
        for address in filled(route.path, {"tenant": [tenant], "": ids}):
            if route.method == "GET":
                await browser.get(f"{address}?q={word}&tenant={tenant}&person={tenant}")
                answers.append(_answer(route.method, route.path, browser))
                continue
            # A form names its subject in its address or in its fields.
            for id in [""] if "{" in route.path else ids:
                fields = {**_FORM, **proof, "tenant": tenant, "message": id, "notification": id}
                await browser.post(address, fields)
                answers.append(_answer(route.method, route.path, browser))
    return answers


async def given_of_another(console: Console) -> list[str]:
    """Return the pages and forms that give Bob anything of Ann's, and the tables in which he changed rows of hers."""
    ann, bob = await two_lives(console)
    hers, his = await belongings(console, ann, HERS), await belongings(console, bob, HIS)
    secrets = hers.texts - his.texts
    async with console.browser(BOB) as browser:
        of_ann = await walk(console, browser, ann, hers.ids, HERS)
        mixed = await walk(console, browser, bob, hers.ids, HERS)
    about_her = {f"{route.method} {route.path}" for route in console.routes if "{" in route.path}
    found = {answer.route for answer in of_ann if answer.route in about_her and answer.status != 404}
    found |= {answer.route for answer in (*of_ann, *mixed) if answer.tells(secrets) or answer.status >= 500}
    changed = hers.rows ^ (await belongings(console, ann, HERS)).rows
    return sorted(found | {row.partition(" ")[0] for row in changed})


def _answer(method: str, path: str, browser: Browser) -> Answer:
    return Answer(f"{method} {path}", browser.status, f"{browser.headers}\n{browser.page}\n{browser.text}")


def filled(path: str, values: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield the addresses of a route: a part with alternatives takes each, another its values, or those of no name."""
    parts = [
        (part[0], part[2].split("|") if part[2] else values.get(part[1], values.get("", ())))
        for part in _PART.finditer(path)
    ]
    for chosen in itertools.product(*(values for _, values in parts)):
        address = path
        for (part, _), value in zip(parts, chosen, strict=True):
            address = address.replace(part, value)
        yield address
