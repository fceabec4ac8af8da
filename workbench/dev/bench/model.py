"""The page's model field: the presets, the servers found on this machine, and the choice."""

from dataclasses import dataclass

from aiohttp import web

from core.errors import RequestRefused
from core.json_types import Json, JsonObject
from onevalet.init.local_servers import find_servers, places
from onevalet.init.presets import PRESETS
from workbench.dev.bench.answers import answered, object_of
from workbench.dev.model.chooser import FIXED, ModelChooser, preset_of


@dataclass(slots=True)
class ModelField:
    """The handlers of /bench/model. `chooser` is there once the assistant has started."""

    chooser: ModelChooser | None = None

    def routes(self) -> list[web.AbstractRouteDef]:
        """Return the routes."""
        return [
            web.get("/bench/model", answered(self.shown)),
            web.post("/bench/model", answered(self.choose)),
            web.delete("/bench/model", answered(self.demo)),
            web.get("/bench/model/servers", answered(self.servers)),
        ]

    async def shown(self, _: web.Request) -> JsonObject:
        """Return the answering model, without its key, and the possible choices."""
        chooser = self._started()
        settings, choice = chooser.assistant.wanted.settings, chooser.choice
        where = "" if chooser.fixed else choice.where
        return {
            "model": (settings.onevalet_model if chooser.fixed else choice.name) or "",
            "where": where if choice.model else "",
            "fixed": FIXED if chooser.fixed else "",
            "presets": [
                {
                    "key": preset.key,
                    "title": preset.title,
                    "group": preset.group.value,
                    "model": preset.model,
                    "key_page": preset.key_page,
                    "key_looks": preset.key_looks,
                    "asks": [{"name": ask.name, "question": ask.question, "value": ask.default} for ask in preset.asks],
                }
                for preset in PRESETS
                if preset.has_key
            ],
        }

    async def servers(self, _: web.Request) -> JsonObject:
        """Return the model servers on this machine."""
        found = await find_servers(places(()))
        return {"servers": [{"kind": one.kind, "url": one.url, "models": list(one.models)} for one in found]}

    async def choose(self, request: web.Request) -> JsonObject:
        """Try and keep {"preset", "model", "key", "further"} or {"server", "model"}; return it with its "took"."""
        wanted = await object_of(request)
        chooser = self._started()
        model = _text(wanted, "model")
        if "server" in wanted:
            proof = await chooser.choose_local(_text(wanted, "server"), model)
        else:
            further = wanted.get("further", {})
            if not isinstance(further, dict):
                raise RequestRefused('"further" must be an object.')
            told = {str(name): str(value) for name, value in further.items()}
            preset = preset_of(_text(wanted, "preset"))
            proof = await chooser.choose_key(preset, model, _text(wanted, "key"), told)
        return await self.shown(request) | {"took": round(proof.seconds, 1)}

    async def demo(self, request: web.Request) -> JsonObject:
        """Go back to the demo model."""
        await self._started().demo()
        return await self.shown(request)

    def _started(self) -> ModelChooser:
        if self.chooser is None:
            raise RequestRefused("The assistant is starting.", status=503)
        return self.chooser


def _text(values: JsonObject, name: str) -> str:
    value: Json = values.get(name, "")
    if not isinstance(value, str):
        raise RequestRefused(f'"{name}" must be a text.')
    return value.strip()
