"""Google AI Studio's Gemini (ai.google.dev, "Generating content").

A streamed answer is put together to the body of an unstreamed answer, which litellm's transformation then reads.
"""

import copy
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from yarl import URL

from core.json_types import JsonObject, storable
from core.llm.types import ModelAnswer
from providers.models import litellm_library
from providers.models.direct.types import Call, Endpoint, Plan, ProviderRefused, Room
from providers.models.direct.whole import read_body


class Gemini:
    """The family of Gemini's generateContent."""

    variables: Mapping[str, tuple[str, ...]] = {
        "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY", "PALM_API_KEY", "GEMINI_API_BASE")
    }

    def endpoint(self, call: Call, config: Any, options: dict[str, Any]) -> Endpoint | None:
        names = ("GOOGLE_API_KEY", "GEMINI_API_KEY", "PALM_API_KEY")
        key = call.key or next((value for name in names if (value := os.environ.get(name))), None)
        if not key:
            return None
        base = call.base or os.environ.get("GEMINI_API_BASE") or None
        key_headers, url = litellm_library.gemini_endpoint(call.model, key, base, stream=call.stream)
        return Endpoint(URL(url), {"Content-Type": "application/json", **key_headers})

    def fixed(self, plan: Plan) -> str:
        return ""

    def request(self, plan: Plan, messages: list[JsonObject]) -> tuple[Mapping[str, str], str]:
        # The transformation takes tools and settings out of its options, and changes their contents.
        options = copy.deepcopy({name: value for name, value in plan.options.items() if name != "stream"})
        body = litellm_library.gemini_body(plan.call.model, messages, options, dict(plan.parameters))
        return plan.endpoint.headers, json.dumps(body)

    def body(self) -> "GeminiBody":
        return GeminiBody()


@dataclass(slots=True)
class GeminiBody:
    """The chunks of a streamed answer."""

    characters: int = 0
    pieces: int = 0
    finished: bool = False
    ended: bool = False
    _whole: JsonObject = field(default_factory=dict)
    _candidate: JsonObject = field(default_factory=dict)
    _parts: list[Any] = field(default_factory=list)
    _room: Room = field(default_factory=Room)

    def add(self, event: JsonObject) -> str:
        if error := event.get("error"):
            raise _refusal(error)
        self.pieces += 1
        told: Any = event
        self._room.update(self._whole, {name: value for name, value in told.items() if name != "candidates"})
        candidates = told.get("candidates") or ()
        if not candidates:
            self.finished |= "blockReason" in (told.get("promptFeedback") or {})
            return ""
        candidate = candidates[0]
        self._room.update(self._candidate, {name: value for name, value in candidate.items() if name != "content"})
        self.finished |= bool(candidate.get("finishReason"))
        return "".join(self._add_part(part) for part in (candidate.get("content") or {}).get("parts") or ())

    def _add_part(self, part: Any) -> str:
        """Store a part, joined to the previous part if both are text of the same kind; return the text to show."""
        text = part.get("text")
        if text is None:
            self._parts.append(self._room.keep(part))
            self.characters += len(str((part.get("functionCall") or {}).get("args") or ""))
            return ""
        self.characters += len(text)
        last = self._parts[-1] if self._parts else {}
        alike = "text" in last and bool(last.get("thought")) == bool(part.get("thought"))
        if alike and set(part) <= {"text", "thought"}:
            self._parts[-1] = {**last, "text": last["text"] + text}
        else:
            self._room.keep({name: value for name, value in part.items() if name != "text"})
            self._parts.append(part)
        return "" if part.get("thought") else storable(str(text))

    def answer(self, plan: Plan, sent: Sequence[JsonObject], headers: Mapping[str, str]) -> ModelAnswer:
        feedback: Any = self._whole.get("promptFeedback") or {}
        candidate: JsonObject = {**self._candidate, "content": {"role": "model", "parts": self._parts}}
        # Of a body that says so, litellm would read neither the text nor all of the usage.
        filtered = (
            "blockReason" in feedback or candidate.get("finishReason") in plan.config.get_flagged_finish_reasons()
        )
        if filtered:
            candidate["finishReason"] = "STOP"
        whole: JsonObject = {name: value for name, value in self._whole.items() if name != "promptFeedback"}
        answer = read_body(plan, {**whole, "candidates": [candidate]}, headers)
        answer = replace(answer, thinking=_signed(answer.thinking))
        return replace(answer, finish_reason="content_filter") if filtered else answer


def _signed(thinking: tuple[JsonObject, ...]) -> tuple[JsonObject, ...]:
    """Return the thoughts as blocks if any is signed, else as plain text."""
    if any(block.get("signature") for block in thinking):
        return tuple(block for block in thinking if block.get("signature"))
    text = "".join(str(block.get("thinking") or block.get("text") or "") for block in thinking)
    return ({"type": "reasoning_content", "text": text},) if text else ()


def _refusal(error: Any) -> ProviderRefused:
    if not isinstance(error, dict):
        return ProviderRefused(500, str(error))
    code = error.get("code")
    return ProviderRefused(code if isinstance(code, int) else 500, f"{error.get('status')} - {error.get('message')}")
