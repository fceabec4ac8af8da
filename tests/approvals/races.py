"""The races: who grabs for one approval at the same moment, and how it may end."""

import asyncio
import random
import secrets
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from tests.approvals.signed_posts import Post, SignedPosts
from workbench.simulator.config import Person


@dataclass(frozen=True, slots=True)
class Open:
    """An approval that waits: its number, who is to decide it, and who is not."""

    number: int
    id: str
    tenant: str
    code: str
    token: str
    person: Person
    other: Person


@dataclass(frozen=True, slots=True)
class Grab:
    """The means of a race: hands, chance, and what lets an approval's time end."""

    posts: SignedPosts
    chance: random.Random
    expire: Callable[[Open], Awaitable[None]]

    async def at_once(self, posts: Sequence[Post]) -> list[int]:
        """Send all at once, in any order, to both web processes in turn."""
        mixed = self.chance.sample(list(posts), len(posts))
        return list(await asyncio.gather(*(self.posts.send(post, web) for web, post in enumerate(mixed))))


type Race = Callable[[Grab, Open], Awaitable[None]]


async def double_tap(grab: Grab, approval: Open) -> None:
    """Tap the same button twice."""
    tap = grab.posts.tap
    await grab.at_once(
        [tap(approval.person, f"approve.{approval.token}"), tap(approval.person, f"approve.{approval.token}")]
    )


async def two_devices(grab: Grab, approval: Open) -> None:
    """Approve in Slack, in Telegram and by SMS."""
    posts, data = grab.posts, f"approve.{approval.token}"
    await grab.at_once(
        [
            posts.tap(approval.person, data),
            posts.press(approval.person, data),
            posts.text(approval.person, f"OK {approval.code}"),
        ]
    )


async def approve_against_deny(grab: Grab, approval: Open) -> None:
    """Approve on one device, cancel on two others."""
    posts = grab.posts
    await grab.at_once(
        [
            posts.press(approval.person, f"approve.{approval.token}"),
            posts.tap(approval.person, f"cancel.{approval.token}"),
            posts.text(approval.person, f"NO {approval.code}"),
        ]
    )


async def after_expiry(grab: Grab, approval: Open) -> None:
    """Approve what has expired, before anybody noticed that it has."""
    await grab.expire(approval)
    await two_devices(grab, approval)


async def after_edit(grab: Grab, approval: Open) -> None:
    """Change it in a form while it is approved elsewhere, and approve the old card once more."""
    posts, data = grab.posts, f"approve.{approval.token}"
    form = posts.submit(approval.person, f"edit.{approval.token}", {"number": str(approval.number), "word": "changed"})
    if grab.chance.random() < 0.5:  # the form alone first: then the old card must be worth nothing
        await posts.send(form, 0)
        await grab.at_once([posts.tap(approval.person, data), posts.press(approval.person, data)])
    else:
        await grab.at_once([form, posts.tap(approval.person, data)])
        await grab.at_once([posts.press(approval.person, data)])


async def by_another_user(grab: Grab, approval: Open) -> None:
    """Somebody else presses, while its person cancels."""
    posts, data = grab.posts, f"approve.{approval.token}"
    await grab.at_once(
        [
            posts.tap(approval.other, data),
            posts.press(approval.other, data),
            posts.tap(approval.person, f"cancel.{approval.token}"),
        ]
    )


async def by_another_tenant(grab: Grab, approval: Open) -> None:
    """Another person types its code, another workspace has the same user id; its person cancels afterwards."""
    posts = grab.posts
    await grab.at_once(
        [
            posts.press(approval.person, f"approve.{approval.token}", team="T0OTHER001"),
            posts.submit(approval.other, f"edit.{approval.token}", {"word": "stolen"}),
        ]
    )
    await grab.at_once([posts.press(approval.person, f"cancel.{approval.token}")])


async def replayed(grab: Grab, approval: Open) -> None:
    """One tap and one press, delivered three times each."""
    posts, data = grab.posts, f"approve.{approval.token}"
    await grab.at_once([posts.tap(approval.person, data)] * 3 + [posts.press(approval.person, data)] * 3)


async def forged(grab: Grab, approval: Open) -> None:
    """Tokens that were made up, and real ones without a signature; its person cancels afterwards."""
    posts, data = grab.posts, f"approve.{approval.token}"
    made_up = f"approve.{secrets.token_urlsafe(16)}"
    changed = f"approve.{approval.token[:-1]}{'A' if approval.token[-1] != 'A' else 'B'}"
    refused = [posts.tap(approval.person, data).unsigned(), posts.press(approval.person, data).unsigned()]
    refused.append(posts.text(approval.person, f"OK {approval.code}").unsigned())
    taken = [
        posts.tap(approval.person, made_up),
        posts.press(approval.person, changed),
        posts.tap(approval.person, "approve"),
    ]
    statuses = await grab.at_once(refused)
    assert all(400 <= status < 500 for status in statuses), statuses
    await grab.at_once(taken)
    await grab.at_once([posts.text(approval.person, f"no {approval.code}")])


RACES: dict[str, tuple[Race, frozenset[str]]] = {
    "double tap": (double_tap, frozenset({"approved"})),
    "two devices": (two_devices, frozenset({"approved"})),
    "approve against deny": (approve_against_deny, frozenset({"approved", "cancelled"})),
    "after expiry": (after_expiry, frozenset({"expired"})),
    "after edit": (after_edit, frozenset({"approved", "replaced"})),
    "by another user": (by_another_user, frozenset({"cancelled"})),
    "by another tenant": (by_another_tenant, frozenset({"cancelled"})),
    "replayed": (replayed, frozenset({"approved"})),
    "forged": (forged, frozenset({"cancelled"})),
}
"""Each race with the states in which it may end."""
