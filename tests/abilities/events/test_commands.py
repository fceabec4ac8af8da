"""`events …` as an operator runs it."""

import base64
import io
import json
import os
import re
from pathlib import Path

import pytest

from abilities.events.bus import EventBus
from abilities.events.operating import add_source, delete_source, print_events, print_sources, retry_event
from abilities.events.probes import check_set_aside
from abilities.events.source_types import SourceOptions, Style
from abilities.events.types import Event
from core.errors import ConfigError
from onevalet.settings import Settings, load_settings
from tests.core.harness import Store, opened


@pytest.fixture
def settings(database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.chdir(tmp_path)  # no .env
    return load_settings(
        database_url=database_url,
        redis_url="redis://127.0.0.1:1/0",
        public_url="https://valet.example",
        onevalet_home=tmp_path,
        onevalet_secret_keys=base64.b64encode(os.urandom(32)).decode(),
    )


async def a_person(store: Store) -> None:
    await store.db.tenants.add(tenant_id="ann")


async def test_a_source_is_made_shown_once_listed_and_deleted(
    settings: Settings, database_url: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(database_url) as store:
        with pytest.raises(ConfigError, match="Nobody is here"):
            await print_sources(settings, "", as_json=False)
        await a_person(store)
        await add_source(settings, "", "door", Style.BEARER, SourceOptions(), read_secret=False)
        made = capsys.readouterr().out
        assert re.search(r"https://valet\.example/events/src_\w+", made)
        secret = re.search(r"secret  (\S+)   \(shown this once\)", made)
        assert secret is not None
        monkeypatch.setattr("sys.stdin", io.StringIO("whsec_given\n"))
        await add_source(settings, "ann", "shop", Style.STRIPE, SourceOptions(), read_secret=True)
        assert "whsec_given" not in capsys.readouterr().out
        with pytest.raises(ConfigError, match="already"):
            await add_source(settings, "", "door", Style.BEARER, SourceOptions(), read_secret=False)
        await print_sources(settings, "", as_json=True)
        listed = capsys.readouterr().out
        assert [item["name"] for item in json.loads(listed)] == ["door", "shop"]
        assert secret[1] not in listed
        await delete_source(settings, "", "door")
        with pytest.raises(ConfigError, match="no source"):
            await delete_source(settings, "", "door")


async def test_what_was_set_aside_is_listed_with_its_reason_and_retried(
    settings: Settings, database_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    async with opened(database_url) as store:
        await a_person(store)
        bus = EventBus("redis://127.0.0.1:1/0", store.database)
        await bus.store.add_group("tasks", "*")
        await bus.publish(Event("door", "opened", id="7", tenant_id="ann"))
        claimed = await bus.store.claim_next("tasks", bus._lease)
        assert claimed is not None
        assert await check_set_aside(store.database) == []
        await bus._set_aside(claimed, "no colour")
        [check] = await check_set_aside(store.database)
        assert (check.what, check.detail, check.ok) == ("events set aside", "1 event", False)
        await bus.close()
        await print_events(settings, "", set_aside=True, as_json=False)
        assert "1 tries: no colour" in capsys.readouterr().out
        await retry_event(settings, "", "door", "7")
        assert await check_set_aside(store.database) == []
        await print_events(settings, "", set_aside=False, as_json=True)
        [shown] = json.loads(capsys.readouterr().out.split("seconds.\n")[1])
        assert (shown["id"], shown["state"]) == ("7", "waiting")
        with pytest.raises(ConfigError, match="set aside"):
            await retry_event(settings, "", "door", "7")
