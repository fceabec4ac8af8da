"""What runs short, on the page of health: ways in, leases, connections, and what providers refused."""

from operations.console.access import Scope, Viewer
from operations.console.reading.strain import read_strain
from tests.core.harness import Store
from tests.operations.console.harness import ANN, BOB, Console

_POLLED = """
insert into channel_state (channel, account, owner, lease_until, poll_problem) values
('telegram', 'bot', 'web', now() + interval '1 minute', 'Conflict'),
('email', 'box', 'web', now() - interval '1 minute', ''),
('sms', 'number', null, null, '')
"""


async def test_health_shows_ways_in_that_are_shut(store: Store) -> None:
    await store.admin.execute(_POLLED)
    known = {"slack": "its socket is shut", "telegram": ""}
    checks = {check.what: check for check in await read_strain(Scope(Viewer("tn_ann", True), store.database), known)}
    assert [check.ok for name, check in checks.items() if "way in" in name] == [False] * 3
    assert checks["email: way in"].detail == "nobody polls it"
    assert checks["slack: way in"].detail == "its socket is shut"
    assert "poll" in checks["telegram: way in"].detail
    assert "doctor" in checks["telegram: way in"].fix
    await store.admin.execute("update channel_state set poll_problem = '', lease_until = now() + interval '1 minute'")
    opened = await read_strain(Scope(Viewer("tn_ann", True), store.database), {"slack": ""})
    assert [(check.what, check.detail) for check in opened if "way in" in check.what] == [
        (f"{name}: way in", "open") for name in ("email", "slack", "telegram")
    ]


async def test_health_counts_lapsed_leases_and_given_up_sends(console: Console) -> None:
    async with console.browser(ANN) as browser:
        await browser.get("/console/health")
        assert "fine leases all are held by processes at work" in browser.text
        await console.store.say("hello", sender=BOB)
        await console.store.admin.execute(
            "update lanes set owner = 'gone', lease_until = now() - interval '2 minutes' where pending;"
            " update outbound set state = 'failed', reason = case when seq % 2 = 0 then 'rare' else '30007' end"
        )
        sent = await console.store.db.outbound.count()
        await browser.get("/console/health")
    assert "needs attention leases 1 of processes that are gone" in browser.text
    assert f"given up {sent} given up since this time yesterday, most often: 30007 see Deliveries" in browser.text


async def test_health_turns_red_before_the_connections_run_out(store: Store) -> None:
    (check,) = [
        one for one in await read_strain(Scope(Viewer("tn_ann", True), store.database), {}) if one.what == "connections"
    ]
    used, most = (int(word) for word in check.detail.replace("'", " ").split() if word.isdigit())
    assert check.ok
    assert 0 < used < most
    await store.admin.execute(
        "create or replace function console_strain(p_lapsed interval)"
        " returns table (lapsed bigint, connections bigint, most bigint)"
        " language sql stable as 'select 0::bigint, 80::bigint, 100::bigint'"
    )
    (check,) = [
        one for one in await read_strain(Scope(Viewer("tn_ann", True), store.database), {}) if one.what == "connections"
    ]
    assert not check.ok
    assert check.fix.startswith("raise max_connections")
