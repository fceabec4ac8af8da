"""Scenarios on the page, under /bench/scenarios: listed, recorded, kept as files, and replayed."""

import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiohttp import web

from core.errors import RequestRefused
from core.json_types import JsonObject
from onevalet.settings import Settings
from workbench.dev.bench.answers import answered, object_of
from workbench.dev.bench.replays import Replays
from workbench.dev.bench.routes import Bench
from workbench.scenarios.catalogue import OWN, Catalogue, Listed
from workbench.scenarios.recording.recorder import Recorded, Recorder
from workbench.scenarios.scenario import ScenarioError
from workbench.scenarios.writing import to_toml
from workbench.simulator.app import Simulator


@dataclass(slots=True)
class Scenarios:
    """The page's actions on scenarios. A finished recording is a draft until it is saved or discarded."""

    catalogue: Catalogue
    replays: Replays
    _recorder: Recorder | None = None
    _draft: Recorded | None = field(default=None)

    def routes(self) -> list[web.AbstractRouteDef]:
        """Return the routes."""
        return [
            web.get("/bench/scenarios", answered(self.listed)),
            web.post("/bench/scenarios", answered(self.do)),
            web.get("/bench/scenarios/{name}", self.file),
        ]

    @property
    def recorder(self) -> Recorder:
        if self._recorder is None:
            raise RequestRefused("The assistant is starting.", status=503)
        return self._recorder

    def attach(self, simulator: Simulator, bench: Bench, settings: Settings) -> None:
        """Take the parts to record, once they exist."""
        # Otherwise memory would call the model at moments of its own, for which nothing was recorded.
        memory = {"ONEVALET_MEMORY": "rules"}
        remembers = getattr(settings, "onevalet_memory", "off") != "off"  # an ability's, which need not be there
        told = {"plugins": list(settings.onevalet_plugins)} | ({"settings": memory} if remembers else {})
        self._recorder = Recorder(simulator, bench.database, bench.clock, bench.addresses, told)
        bench.recorder = self._recorder
        self.replays.back = simulator.url

    async def listed(self, _: web.Request) -> JsonObject:
        """Return all scenarios, the recording that goes on, and the draft."""
        return self._shown()

    async def do(self, request: web.Request) -> JsonObject:
        """Do {"record": true}, {"stop": true}, {"discard": true}, {"keep": name, "title"}, {"delete": name} or
        {"replay": name, "speed", "channel"}; return the scenarios afterwards, and for a replay also its "address".
        """
        wanted = await object_of(request)
        try:
            return await self._do(wanted)
        except ScenarioError as error:
            raise RequestRefused(str(error)) from error

    async def file(self, request: web.Request) -> web.StreamResponse:
        """Hand out a scenario's file, to be kept by the browser."""
        try:
            found = self.catalogue.find(request.match_info["name"])
        except ScenarioError as error:
            return web.json_response({"error": str(error)}, status=404)
        headers = {"Content-Disposition": f'attachment; filename="{found.path.name}"'}
        return web.Response(text=found.path.read_text("utf-8"), content_type="application/toml", headers=headers)

    async def _do(self, wanted: Mapping[str, Any]) -> JsonObject:
        match wanted:
            case {"record": True}:
                if self.recorder.began:
                    raise RequestRefused("A recording goes on already.")
                self._draft = None
                await self.recorder.start()
            case {"stop": True} if self.recorder.began:
                self._draft = await self.recorder.stop()
            case {"discard": True}:
                await self.recorder.discard()
                self._draft = None
            case {"keep": str(name), "title": str(title)}:
                self._keep(name, title)
            case {"delete": str(name)}:
                self.catalogue.delete(name)
            case {"replay": str(name), "speed": str(speed)}:
                found = self.catalogue.find(name)
                if found.error:
                    raise RequestRefused(found.error)
                address = await self.replays.start(found.path, speed, str(wanted.get("channel", "")))
                return {**self._shown(), "address": address}
            case _:
                raise RequestRefused('Say "record", "stop", "discard", "keep", "delete", or "replay".')
        return self._shown()

    def _keep(self, name: str, title: str) -> None:
        if self._draft is None:
            raise RequestRefused("Nothing was recorded.")
        if not self._draft.values["step"]:
            raise RequestRefused("Nothing happened while it was recorded.")
        self.catalogue.save(name or _name_of(title), to_toml({**self._draft.values, "title": title}))
        self._draft = None

    def _shown(self) -> JsonObject:
        draft = self._draft
        return {
            "recording": bool(self.recorder.began),
            "noted": len(self.recorder.items) if self.recorder.began else 0,
            "draft": None
            if draft is None
            else {"steps": len(draft.values["step"]), "left_out": list(draft.left_out), "text": to_toml(draft.values)},
            "scenarios": [_row(one) for one in self.catalogue.all()],
        }


@asynccontextmanager
async def open_scenarios(home: Path) -> AsyncIterator[Scenarios]:
    """Yield the scenarios for the page of a `dev`; a replay ends with it."""
    scenarios = Scenarios(Catalogue(home / OWN), Replays())
    try:
        yield scenarios
    finally:
        await scenarios.replays.stop()


def _row(one: Listed) -> JsonObject:
    scenario = one.scenario
    return {
        "name": one.name,
        "own": one.own,
        "error": one.error,
        "title": scenario.title if scenario else one.name,
        "about": scenario.about if scenario else "",
        "channels": list(scenario.channels) if scenario else [],
        "steps": len(scenario.steps) if scenario else 0,
        "path": str(one.path),
    }


def _name_of(title: str) -> str:
    """Return a file's name for a title."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:60].strip("-") or "scenario"
