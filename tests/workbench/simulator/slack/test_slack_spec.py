"""The emulated methods against Slack's published description, in all that it describes.

It is of 2021: the streams, the assistant methods, bots.info's fields, metadata and markdown_text are not in it.
"""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from tests.workbench.simulator.slack.conftest import Team
from workbench.simulator.slack.api import METHODS

NEWER = {
    "apps.connections.open",
    "assistant.threads.setStatus",
    "assistant.threads.setSuggestedPrompts",
    "assistant.threads.setTitle",
    "chat.appendStream",
    "chat.startStream",
    "chat.stopStream",
    "files.completeUploadExternal",
    "files.getUploadURLExternal",
}
# The description leaves these optional though the method's page and its error list call for them, or, with
# trigger_id, needs what newer callers may replace by an interactivity_pointer.
PAGE_SAYS_OTHERWISE = {
    "chat.delete": {"channel", "ts"},
    "conversations.history": {"channel"},
    "conversations.info": {"channel"},
    "conversations.replies": {"channel", "ts"},
    "files.info": {"file"},
    "users.info": {"user"},
    "views.open": {"trigger_id"},
    "views.push": {"trigger_id"},
    "views.update": {"view"},
}


@pytest.fixture(scope="module")
def paths() -> dict[str, Any]:
    """The methods of the description."""
    folder = os.environ.get("ONEVALET_SPECS")
    if not folder:
        pytest.skip("ONEVALET_SPECS is not set: the providers' descriptions are elsewhere")
    spec = json.loads((Path(folder) / "slack-web.openapi2.json").read_text())
    described: dict[str, Any] = spec["paths"]
    return described


def _operation(paths: dict[str, Any], method: str) -> dict[str, Any]:
    operation: dict[str, Any]
    (operation,) = paths[f"/{method}"].values()
    return operation


def test_all_but_the_newer_methods_are_described(paths: dict[str, Any]) -> None:
    assert {method for method in METHODS if f"/{method}" not in paths} == NEWER


@pytest.mark.parametrize("method", sorted(set(METHODS) - NEWER))
def test_needed_arguments_are_those_of_the_description(paths: dict[str, Any], method: str) -> None:
    parameters = _operation(paths, method)["parameters"]
    needed = {
        parameter["name"] for parameter in parameters if parameter.get("required") and parameter["name"] != "token"
    }
    names = {parameter["name"] for parameter in parameters}
    assert set(METHODS[method].needs) <= names
    assert set(METHODS[method].needs) ^ needed <= PAGE_SAYS_OTHERWISE.get(method, set())


@pytest.mark.parametrize("method", sorted(set(METHODS) - NEWER))
def test_scopes_are_among_those_of_the_description(paths: dict[str, Any], method: str) -> None:
    described = {scope for requirement in _operation(paths, method)["security"] for scope in requirement["slackAuth"]}
    known = {scope for scope in described if scope != "none"}
    old_names = {"chat:write": "chat:write:bot"}
    assert all(scope in known or old_names.get(scope) in known for scope in METHODS[method].scopes)


@pytest.mark.parametrize("method", sorted(set(METHODS) - NEWER))
async def test_a_call_without_its_arguments_gets_a_described_error(
    paths: dict[str, Any], client: AsyncWebClient, team: Team, method: str
) -> None:
    failure = _operation(paths, method)["responses"].get("default", {})
    described = failure.get("schema", {}).get("properties", {}).get("error", {}).get("enum", [])
    await team.act("set", token="account_inactive")
    with pytest.raises(SlackApiError) as refused:
        await client.api_call(method)
    assert refused.value.response["error"] == "account_inactive"
    assert not described or "account_inactive" in described
