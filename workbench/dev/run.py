"""`dev`: database, Redis, web, worker and simulator in one process, without any setup."""

import asyncio
import os
import socket
import sys
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import SecretStr

from core.errors import ConfigError
from onevalet.servers.home import Running, hold_home
from onevalet.servers.opening import open_services, plain
from onevalet.servers.server import EmbeddedServer
from onevalet.settings import Settings
from onevalet.supervision.garbage import keep_loaded
from onevalet.supervision.loop_watch import watched_loop
from onevalet.wiring.logs import set_up_logs
from onevalet.wiring.models import build_client, check_models
from onevalet.wiring.preload import load_worker
from onevalet.wiring.secret_keys import key_file
from onevalet.wiring.tracing import open_tracing
from workbench.dev.bench.page import open_page_bench
from workbench.dev.model.choice import read_kept
from workbench.dev.processes.assistant import Assistant
from workbench.dev.processes.child import Wanted
from workbench.dev.seed import bring_in_owner
from workbench.dev.simulator_wiring import Simulated, choose_simulated, local_url, simulator_config, wire_simulator
from workbench.simulator.app import serve_simulator

SIMULATOR_HOST = "127.0.0.1"
NOTICE = (
    "The demo model answers: a few phrases and the real tools behind them; its voice is silent. "
    "Choose a real one under “Demo model”."
)


async def run_dev(settings: Settings, stop: asyncio.Event, *, processes: bool = False) -> None:
    """Run everything until told to stop; the data stays in ONEVALET_HOME. `processes`: web and worker in their own."""
    choose_simulated(settings)  # before anything is started, because it may raise
    async with AsyncExitStack() as stack:
        home = stack.enter_context(hold_home(settings.onevalet_home))
        if settings.port == 0:
            settings = settings.model_copy(update={"port": _free_pair(settings.host)})
        kept = read_kept(settings)
        settings = kept.settings
        refuse_taken_port(settings.host, settings.port)
        refuse_taken_port(SIMULATOR_HOST, settings.port + 1)
        _step("Loading the assistant.")
        # Before `dev` reports that it is ready: everything shares a loop.
        await load_worker(litellm=bool(settings.onevalet_model))
        check_models(settings, build_client(settings))
        (await stack.enter_async_context(watched_loop())).begin_work()
        _step(_services_step(settings))
        servers: list[EmbeddedServer] = []
        settings = await stack.enter_async_context(open_services(settings, servers))
        _step("Starting the channels.")
        config = simulator_config(settings.onevalet_home)
        page = await stack.enter_async_context(open_page_bench(settings, servers))
        bench = page.bench
        settings = settings.model_copy(update={"onevalet_clock": bench.clock.path})
        simulator = await stack.enter_async_context(
            serve_simulator(
                config,
                bench.clock.told(),
                SIMULATOR_HOST,
                settings.port + 1,
                closed=True,
                bench=page.routes(),
            )
        )
        simulated = wire_simulator(settings, config, simulator.url)
        # The simulated person's mail server is on this machine, which no tool may reach otherwise.
        mail_host = f"127.0.0.1:{simulator.mail.port}"
        hosts = (*simulated.settings.onevalet_fetch_hosts, mail_host)
        settings = simulated.settings.model_copy(update={"onevalet_fetch_hosts": hosts})
        set_up_logs(settings.onevalet_log, settings.secrets())  # redacts the secrets that were created here, too
        await bring_in_owner(simulated, config, simulator.mail.port)
        simulator.control.notice = _notice(simulated)
        await stack.enter_async_context(open_tracing(settings, "dev"))
        url = local_url(settings)
        simulator.wire.connect_gateway(url, settings.public_url)
        simulator.control.console = f"{url}/console"
        page.attach(simulator, config, settings)
        assistant = bench.breaking.assistant = Assistant(Wanted(settings, simulated.channels, simulator.url))
        await stack.enter_async_context(assistant.running(processes=processes))

        def told(changed: Settings) -> None:
            simulator.control.notice = _notice(replace(simulated, settings=changed))

        bench.offer_models(kept, assistant, told)
        if "slack" in simulated.channels:
            bench.socket_mode.offer(assistant, simulator)
        simulator.open()
        keep_loaded()
        home.remember(
            Running(
                pid=os.getpid(),
                url=url,
                simulator_url=simulator.url,
                database_url=plain(settings.database_url),
                redis_url=plain(settings.redis_url),
                owner_url=plain(settings.onevalet_backup_database_url or settings.database_url),
            )
        )
        sys.stdout.write(describe(simulated, url, simulator.url))
        sys.stdout.flush()
        await stop.wait()
        sys.stdout.write("Stopping.\n")


def _step(line: str) -> None:
    """Print the step that the start has reached: it takes a while, especially the first time."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _services_step(settings: Settings) -> str:
    ours = {"Postgres": settings.database_url is None, "Valkey": settings.redis_url is None}
    started = " and ".join(name for name, embedded in ours.items() if embedded)
    return f"Starting {started}, and preparing the database." if started else "Preparing the database."


def describe(simulated: Simulated, url: str, simulator_url: str) -> str:
    """Return a text about the active parts and their addresses."""
    settings = simulated.settings
    home = Path(settings.onevalet_home)
    demo = "the demo model: set ONEVALET_MODEL and its key for a real one"
    rows = [
        ("database", f"Postgres at {_where(settings.database_url)}, data in {home}"),
        ("redis", f"Valkey at {_where(settings.redis_url)}"),
        ("secret key", _secret_key(home)),
        ("model", settings.onevalet_model or demo),
        ("terminal", "on: bin/onevalet chat"),
        ("sms", _channel("sms", settings.twilio_from, "TWILIO_* and PUBLIC_URL", simulated)),
        ("slack", _channel("slack", _app(settings), "SLACK_*", simulated)),
        ("telegram", _channel("telegram", _bot(settings), "TELEGRAM_BOT_TOKEN", simulated)),
        ("email", "kept in the simulator's journal and passed to nobody, until you connect an account"),
    ]
    lines = [f"  {name:<12}{description}" for name, description in rows]
    shut = simulated.console_shut
    console = f"sign in by `bin/onevalet console link`, because {shut.because}" if shut else f"{url}/console"
    places = [f"  gateway     {url}", f"  simulator   {simulator_url}", f"  console     {console}"]
    return "\n".join(["", "OneValet is running. Ctrl-C ends it.", "", *lines, "", *places, ""]) + "\n"


def refuse_taken_port(host: str, port: int) -> None:
    """Raise `ConfigError` when a port is in use, before anything is started."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise ConfigError(
                f"{host}:{port} cannot be listened on ({error.strerror}): stop what uses it, or set PORT."
            ) from error


def _free_pair(host: str) -> int:
    """Return a port that is free together with the next port, which is the simulator's."""
    for _ in range(50):
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as first, socket.socket() as second:
            first.bind((host, 0))
            port = int(first.getsockname()[1])
            try:
                second.bind((SIMULATOR_HOST, port + 1))
            except OSError:
                continue
            return port
    raise ConfigError("No two free ports in a row were found: set PORT.")


def _channel(name: str, account: str, needed: str, simulated: Simulated) -> str:
    if name in simulated.channels:
        return f"on, in the simulator, as {account}: set {needed} for the real one"
    if not account:
        return f"off: {simulated.off_because}, or set {needed} for the real one"
    return f"on, as {account}"


def _notice(simulated: Simulated) -> str:
    notices = [] if simulated.settings.onevalet_model else [NOTICE]
    if simulated.off_because:
        notices.append(f"Nobody answers here: {simulated.off_because}.")
    return " ".join(notices)


def _secret_key(home: Path) -> str:
    path = key_file(home)
    if not path.exists():
        return "ONEVALET_SECRET_KEYS"
    return f"in {path}: keep a copy, for without it stored credentials cannot be read"


def _app(settings: Settings) -> str:
    return "its app's bot" if settings.slack_bot_token else ""


def _bot(settings: Settings) -> str:
    token = settings.telegram_bot_token
    return f"bot {token.get_secret_value().partition(':')[0]}" if token else ""


def _where(url: SecretStr | None) -> str:
    places = urlsplit(plain(url)).netloc.rpartition("@")[2]
    return places or "a socket of its own"
