"""Calls to a real receiver: signed as Standard Webhooks says, tried for a day, and at least once with one id."""

from dataclasses import replace
from datetime import timedelta

import pytest
from standardwebhooks.webhooks import WebhookVerificationError

from abilities.webhooks.endpoints import Endpoints, EventKind
from abilities.webhooks.opening import prune, tell_of_disabled
from abilities.webhooks.outbox import MOST_GIVEN_UP
from abilities.webhooks.signing import OVERLAP
from core.clock import Clock
from core.credentials.secret_keys import SecretKeys
from core.notifications.types import Notification
from tests.abilities.webhooks.harness import FAILS, PATH, Webhooks, open_webhooks
from tests.core.credentials.harness import KEYS, new_key
from tests.core.harness import Store


async def owe(store: Store, number: int = 1) -> None:
    """Let a turn end, of which endpoints are told."""
    for _ in range(number):
        await store.enqueue("hello")


async def test_a_receiver_verifies_what_it_gets_and_refuses_what_was_changed(store: Store) -> None:
    async with open_webhooks(store, EventKind.TURN_DONE) as webhooks:
        await owe(store)
        await webhooks.send()
        [call] = webhooks.receiver.calls
        payload = call.verified(webhooks.secret())
        assert (payload["type"], payload["data"]["state"]) == ("turn.done", "done")
        assert call.headers["content-type"] == "application/json"
        with pytest.raises(WebhookVerificationError):
            call.verified(webhooks.secret(SecretKeys([new_key()])))
        with pytest.raises(WebhookVerificationError):
            replace(call, body=call.body.replace(b"done", b"gone")).verified(webhooks.secret())


async def test_the_secrets_before_a_rotation_verify_for_a_day(store: Store) -> None:
    keys = SecretKeys([new_key(), *KEYS.all])
    async with open_webhooks(store, EventKind.TURN_DONE, keys=keys) as webhooks:
        await webhooks.endpoints.rotate(webhooks.endpoint)
        await webhooks.endpoints.rotate(webhooks.endpoint)  # repeated: it changes nothing
        await owe(store)
        await webhooks.send()
        [call] = webhooks.receiver.calls
        for of in (keys, KEYS):
            for generation in (1, 2):
                call.verified(webhooks.secret(of, generation))
        with pytest.raises(WebhookVerificationError):
            call.verified(webhooks.secret(keys, 3))
        await store.admin.execute("update webhook_endpoints set rotated_at = rotated_at - $1::interval", OVERLAP)
        await owe(store)
        await webhooks.send()
        call = webhooks.receiver.calls[-1]
        call.verified(webhooks.secret(keys, 2))
        with pytest.raises(WebhookVerificationError):
            call.verified(webhooks.secret(keys, 1))


@pytest.mark.parametrize(
    ("answer", "status"), [(500, 500), (503, 503), (302, 302), (404, 404), ("close", None)], ids=str
)
async def test_a_call_that_fails_is_made_again_with_the_same_id_and_body(
    store: Store, answer: int | str, status: int | None
) -> None:
    async with open_webhooks(store, EventKind.TURN_DONE) as webhooks:
        webhooks.receiver.answers.extend([answer, answer])
        await owe(store)
        assert await webhooks.send() == 1, "it is not repeated at once"
        assert await webhooks.rows() == [("turn.done", "waiting", 1, status)]
        [(work, row_id, after)] = store.wakeups.later
        assert (work, after) == ("webhooks", timedelta(seconds=5))
        assert await webhooks.later() == 1
        assert await webhooks.later() == 1
        first, *others = webhooks.receiver.calls
        assert [(call.id, call.body) for call in others] == [(first.id, first.body)] * 2
        assert first.id == row_id
        assert await webhooks.rows() == [("turn.done", "sent", 3, 200)]
        assert (await Endpoints(store.database, store.make_id).all())[0].failures == 0


@pytest.mark.parametrize(("answer", "ended"), [("hang", ("waiting", None)), ("drip", ("sent", 200))])
async def test_a_receiver_that_hangs_is_cut_off_and_one_that_drips_has_answered(
    store: Store, answer: str, ended: tuple[str, int | None]
) -> None:
    async with open_webhooks(store, EventKind.TURN_DONE, timeout=0.3) as webhooks:
        webhooks.receiver.answers.append(answer)
        await owe(store)
        assert await webhooks.send() == 1
        [(_, state, _, status)] = await webhooks.rows()
        assert (state, status) == ended


async def test_an_address_inside_is_not_called_unless_it_is_named(store: Store) -> None:
    async with open_webhooks(store, EventKind.TURN_DONE, named=False) as webhooks:
        await owe(store)
        await webhooks.send()
        assert webhooks.receiver.calls == []
        assert "ONEVALET_FETCH_HOSTS" in str(await store.one("select reason from webhook_messages"))


async def test_a_receiver_that_is_gone_is_told_no_more_and_the_owner_learns_it(store: Store) -> None:
    async with open_webhooks(store, EventKind.TURN_DONE) as webhooks:
        webhooks.receiver.answers.append(410)
        await owe(store, 2)
        assert await webhooks.send() == 1
        assert await webhooks.later() == 0
        await owe(store)
        assert len(await webhooks.rows()) == 2, "what happens now is not kept for it"
        assert await told_of(webhooks) == []
        await store.db.tenants.change({"role": "owner"})
        [said] = await told_of(webhooks)
        assert said.text.startswith(f"I have stopped telling 127.0.0.1:{webhooks.receiver.port} of events")
        assert await told_of(webhooks) == []
        await webhooks.endpoints.change(webhooks.endpoint, active=True)
        assert await webhooks.later() == 1
        assert [state for _, state, _, _ in await webhooks.rows()] == ["failed", "sent"]


async def test_an_owner_learns_of_a_disabled_endpoint_in_their_language(store: Store) -> None:
    async with open_webhooks(store, EventKind.TURN_DONE) as webhooks:
        webhooks.receiver.answers.append(410)
        await owe(store)
        await webhooks.send()
        await store.db.tenants.change({"role": "owner", "language": "de"})
        [said] = await told_of(webhooks)
        assert said.text.startswith(f"Ich melde 127.0.0.1:{webhooks.receiver.port} keine Ereignisse mehr")


async def test_what_fails_for_a_day_is_given_up_and_then_its_endpoint(store: Store) -> None:
    async with open_webhooks(store, EventKind.TURN_DONE) as webhooks:
        webhooks.receiver.answers.extend([500] * 50)
        await owe(store, MOST_GIVEN_UP)
        await webhooks.send()
        for _ in range(MOST_GIVEN_UP - 1):
            await webhooks.later(timedelta(days=2), ages=True)
            assert (await webhooks.endpoints.all())[0].active
            await owe(store)
            await webhooks.send()
        await webhooks.later(timedelta(days=2), ages=True)
        [endpoint] = await webhooks.endpoints.all()
        assert (endpoint.active, endpoint.reason) == (False, "it answered 500")


async def test_a_receiver_that_fails_is_spared_and_others_are_told(store: Store) -> None:
    async with open_webhooks(store, EventKind.TURN_DONE) as webhooks:
        await webhooks.endpoints.add(webhooks.receiver.url + FAILS, [EventKind.TURN_DONE])
        await owe(store, 3)
        assert await webhooks.send() == 4
        assert sorted(call.path for call in webhooks.receiver.calls) == [*[PATH] * 3, PATH + FAILS]


async def test_a_worker_that_dies_before_its_call_leaves_it_to_another(store: Store) -> None:
    async with open_webhooks(store, EventKind.TURN_DONE) as webhooks:
        await owe(store)
        dead = await webhooks.sender.claim(None)
        assert dead is not None
        assert await webhooks.send() == 0
        await store.admin.execute("update webhook_messages set lease_until = clock_timestamp() - interval '1 second'")
        assert await webhooks.send() == 1
        await webhooks.sender.run(dead)
        assert len(webhooks.receiver.calls) == 1, "the dead one's lease is another's"
        assert await webhooks.rows() == [("turn.done", "sent", 2, 200)]


async def test_a_record_that_is_repeated_changes_nothing(twice: Store) -> None:
    async with open_webhooks(twice, EventKind.TURN_DONE) as webhooks:
        webhooks.receiver.answers.append(500)
        await twice.enqueue("hello")
        assert await webhooks.send() == 1
        assert await webhooks.rows() == [("turn.done", "waiting", 1, 500)]
        assert (await webhooks.endpoints.all())[0].failures == 1


async def test_nothing_is_told_during_a_halt_and_all_of_it_afterwards(store: Store) -> None:
    async with open_webhooks(store, EventKind.TURN_DONE) as webhooks:
        await owe(store)
        await store.admin.execute("select begin_halt('a test')")
        assert await webhooks.send() == 0
        await store.admin.execute("select end_halt('a test')")
        assert await webhooks.send() == 1


async def test_old_messages_are_deleted_and_new_ones_kept(store: Store) -> None:
    async with open_webhooks(store, EventKind.TURN_DONE) as webhooks:
        await owe(store)
        await webhooks.send()
        await owe(store)
        await store.admin.execute("update webhook_messages set at = at - interval '40 days' where state = 'sent'")
        assert await prune(store.database, Clock()) == 1
        assert [state for _, state, _, _ in await webhooks.rows()] == ["waiting"]
        await webhooks.endpoints.delete(webhooks.endpoint)
        assert await webhooks.rows() == []


class Said:
    """A notifier that records what it is given."""

    def __init__(self) -> None:
        self.said: list[Notification] = []

    async def notify(self, tenant_id: str, notification: Notification) -> None:
        """Record it."""
        self.said.append(notification)


async def told_of(webhooks: Webhooks) -> list[Notification]:
    """Return what the owner is told now."""
    notifier = Said()
    await tell_of_disabled(webhooks.endpoints, webhooks.store.database, notifier)  # type: ignore[arg-type]
    return notifier.said
