"""A worker inside a program, opened by `onevalet.OneValet`."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from core.ids import make_id
from core.people.access_policy import PersonRole
from onevalet.servers.home import hold_home
from onevalet.servers.opening import open_services
from onevalet.settings import load_settings
from onevalet.supervision.worker_start import ALONE
from onevalet.wiring.ability_work import around_work
from onevalet.wiring.connections import check_worker
from onevalet.wiring.logs import log_inside
from onevalet.wiring.outbound import Brought
from onevalet.wiring.preload import load_worker
from onevalet.wiring.program import ACCOUNT, CHANNEL
from onevalet.wiring.web import open_web
from onevalet.wiring.worker_parts import WorkerParts
from onevalet.wiring.worker_process import build_process


@asynccontextmanager
async def open_inside(given: dict[str, str], brought: Brought, *, serve: bool) -> AsyncIterator[WorkerParts]:
    """Run a worker inside the block, with embedded servers if the settings name none; yield its parts."""
    settings = load_settings(**{name.lower(): value for name, value in given.items()})
    log_inside(settings.secrets())
    async with AsyncExitStack() as stack:
        if settings.database_url is None or settings.redis_url is None:
            stack.enter_context(hold_home(settings.onevalet_home))
        settings = await stack.enter_async_context(open_services(settings))
        check_worker(settings, demo=True)
        await load_worker(settings)
        parts = await WorkerParts.open(stack, settings, ALONE, brought)
        await stack.enter_async_context(around_work(parts.foundation))
        process = build_process(stack, parts, None, None)
        process.start()
        stack.push_async_callback(process.stop)
        if serve:
            await stack.enter_async_context(open_web(settings))
        yield parts


async def known_person(parts: WorkerParts, name: str, timezone: str | None = None) -> tuple[str, str]:
    """Return the ids of a person and of their address here, by the program's own name or the id of a known person.

    A new person is admitted, in a timezone (IANA), since the program vouches for them.
    """
    database = parts.connections.database
    row = await database.call("select tenant_id from find_identity($1,$2,$3)", CHANNEL, ACCOUNT, name)
    if row is not None and row["tenant_id"]:
        return str(row["tenant_id"]), name
    if await database.tenant_row(name, "select 1 from tenants where tenant_id = $1") is not None:
        await database.tenant_row(
            name,
            "insert into identities (tenant_id, id, channel, account, user_key, admitted)"
            " values ($1,$2,$3,$4,$1,'operator') returning id",
            make_id("idn"),
            CHANNEL,
            ACCOUNT,
        )
        return name, name
    seed = {"channel": CHANNEL, "account": ACCOUNT, "user_key": name}
    row = await database.one(
        "select seed_person($1,$2,$3,$4,$5,$6) as tenant_id",
        make_id("tn"),
        [seed],
        [make_id("idn")],
        name,
        timezone or "",
        PersonRole.MEMBER.value,
    )
    return str(row["tenant_id"]), name
