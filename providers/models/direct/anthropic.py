"""Anthropic's messages (docs.anthropic.com, "Messages" and "Streaming messages").

A streamed answer is put together to the body of an unstreamed answer, which litellm's transformation then reads.
"""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from yarl import URL

from core.json_types import JsonObject, storable
from core.llm.types import ModelAnswer
from providers.models import litellm_library
from providers.models.direct.types import Call, Endpoint, Plan, ProviderRefused, Room
from providers.models.direct.whole import read_body
from providers.models.streamed_answer import read_object

_PATH = "/v1/messages"
_DEFAULT_BASE = f"https://api.anthropic.com{_PATH}"
_DELTAS = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature"}
_STATUSES = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
}
"""HTTP's status of an error that comes within a stream; of any other it is 500."""


class Anthropic:
    """The family of Anthropic's messages."""

    variables: Mapping[str, tuple[str, ...]] = {
        "anthropic": (
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_AUTH_TOKEN",
            "ANTHROPIC_API_BASE",
            "ANTHROPIC_BASE_URL",
            "LITELLM_ANTHROPIC_DISABLE_URL_SUFFIX",
        )
    }

    def endpoint(self, call: Call, config: Any, options: dict[str, Any]) -> Endpoint | None:
        key = call.key or os.environ.get("ANTHROPIC_API_KEY")
        told = call.base or os.environ.get("ANTHROPIC_API_BASE") or os.environ.get("ANTHROPIC_BASE_URL")
        base = told or _DEFAULT_BASE
        if not key or os.environ.get("LITELLM_ANTHROPIC_DISABLE_URL_SUFFIX"):
            return None
        headers = config.validate_environment(
            headers={},
            model=call.model,
            messages=[],
            optional_params={**options, "is_vertex_request": False},
            litellm_params={},
            api_key=key,
            api_base=base,
        )
        url = base if base.endswith(_PATH) else base + _PATH
        return Endpoint(URL(url), {str(name): str(value) for name, value in headers.items()})

    def fixed(self, plan: Plan) -> str:
        return ""

    def request(self, plan: Plan, messages: list[JsonObject]) -> tuple[Mapping[str, str], str]:
        options = {name: value for name, value in plan.options.items() if name != "stream"}
        body = plan.config.transform_request(
            model=plan.call.model,
            messages=messages,
            optional_params={**options, "is_vertex_request": False},
            litellm_params=dict(plan.parameters),
            headers=dict(plan.endpoint.headers),
        )
        headers, body = litellm_library.anthropic_request(dict(plan.endpoint.headers), body)
        if plan.call.stream:
            body["stream"] = True
        return headers, json.dumps(body)

    def body(self) -> "AnthropicBody":
        return AnthropicBody()


@dataclass(slots=True)
class AnthropicBody:
    """The events of a streamed message."""

    characters: int = 0
    pieces: int = 0
    finished: bool = False
    ended: bool = False
    _message: JsonObject = field(default_factory=dict)
    _blocks: dict[int, JsonObject] = field(default_factory=dict)
    _usage: JsonObject = field(default_factory=dict)
    _inputs: dict[int, list[str]] = field(default_factory=dict)
    _room: Room = field(default_factory=Room)

    def add(self, event: JsonObject) -> str:
        told: Any = event
        self.pieces += 1
        match event.get("type"):
            case "message_start":
                self._room.update(self._message, told["message"])
                self._room.update(self._usage, told["message"].get("usage") or {})
            case "content_block_start":
                self._blocks[told["index"]] = dict(self._room.keep(told["content_block"]))
                return self._text(told["content_block"].get("text"))
            case "content_block_delta":
                return self._add_delta(told["index"], told["delta"])
            case "message_delta":
                self._room.update(self._message, told["delta"])
                self._room.update(self._usage, told.get("usage") or {})
                self.finished = True
            case "message_stop":
                self.ended = True
            case "error":
                error = told.get("error") or {}
                raise ProviderRefused(_STATUSES.get(str(error.get("type")), 500), str(error.get("message") or told))
        return ""

    def _add_delta(self, index: int, delta: Any) -> str:
        block = self._blocks[index]
        if delta["type"] == "input_json_delta":
            self._inputs.setdefault(index, []).append(delta["partial_json"])
            self.characters += len(delta["partial_json"])
        elif delta["type"] == "citations_delta":
            block.setdefault("citations", []).append(self._room.keep(delta["citation"]))  # type: ignore[union-attr]
        elif name := _DELTAS.get(delta["type"]):
            said = self._room.keep(delta[name]) if name == "signature" else delta[name]
            block[name] = str(block.get(name) or "") + said
            if name == "text":
                return self._text(delta[name])
            self.characters += len(delta[name]) if name == "thinking" else 0
        return ""

    def _text(self, text: str | None) -> str:
        self.characters += len(text or "")
        return storable(text or "")

    def answer(self, plan: Plan, sent: Sequence[JsonObject], headers: Mapping[str, str]) -> ModelAnswer:
        cut: dict[str, str] = {}
        for index, parts in self._inputs.items():
            block, written = self._blocks[index], "".join(parts)
            try:
                block["input"] = read_object(written or "{}")
            except ValueError:
                # A cut answer's last call: the model is told that its arguments are not JSON.
                block["input"] = {}
                cut[str(block.get("id"))] = written
        blocks = [self._blocks[index] for index in sorted(self._blocks)]
        whole: dict[str, Any] = {"stop_reason": "end_turn", **self._message, "content": blocks, "usage": self._usage}
        return read_body(plan, whole, headers, arguments=cut)
