"""A whole answer in the provider's own form, read by litellm's transformation."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from core.json_types import JsonObject
from core.llm.types import ModelAnswer
from providers.models import litellm_library
from providers.models.chat_format import parse_answer
from providers.models.direct.types import Plan
from providers.models.prices import price


@dataclass(frozen=True, slots=True)
class _Response:
    """A response as far as litellm's transformations look at it."""

    body: JsonObject
    headers: Mapping[str, str]
    status_code: int = 200

    @property
    def text(self) -> str:
        return json.dumps(self.body)

    def json(self) -> JsonObject:
        return self.body


@dataclass(slots=True)
class _NoLog:
    """A logger for litellm that stores nothing."""

    optional_params: dict[str, Any]
    model_call_details: dict[str, Any] = field(default_factory=dict)

    def post_call(self, *_: object, **__: object) -> None:
        """Keep nothing."""


def read_body(
    plan: Plan, body: JsonObject, headers: Mapping[str, str], *, arguments: Mapping[str, str] | None = None
) -> ModelAnswer:
    """Return the answer in a body. `arguments` are those of calls, by id, that are no JSON and not in the body."""
    litellm = litellm_library.load()
    options = dict(plan.options)
    try:
        response = plan.config.transform_response(
            model=plan.call.model,
            raw_response=_Response(body, headers),
            model_response=litellm.ModelResponse(),
            logging_obj=_NoLog(options),
            request_data={},
            messages=[],
            optional_params=options,
            litellm_params=dict(plan.parameters),
            encoding=None,
            api_key="",
        )
    except Exception as error:  # litellm raises any error, even `Exception` itself
        raise ValueError("an answer that cannot be read") from error
    answer = parse_answer(response, plan.call.name)
    told = _told_cost(response)
    usage = replace(answer.usage, cost=price(response, plan.call) if told is None else told)
    calls = tuple(replace(call, arguments=(arguments or {}).get(call.id, call.arguments)) for call in answer.tool_calls)
    return replace(answer, usage=usage, tool_calls=calls)


def _told_cost(response: Any) -> float | None:
    """Return the cost that the provider itself reports, as OpenRouter does."""
    told = (response._hidden_params.get("additional_headers") or {}).get("llm_provider-x-litellm-response-cost")
    return told if isinstance(told, float) and told > 0 else None
