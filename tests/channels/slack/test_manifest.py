"""The manifest that an operator pastes at Slack."""

import pytest
import yaml  # type: ignore[import-untyped]

from channels.slack.manifest import MANIFEST, SCOPES, manifest, manifest_yaml
from tests.channels.slack.team import PUBLIC_URL


def test_the_shipped_manifest_is_the_generated_one() -> None:
    assert MANIFEST.read_text(encoding="utf-8") == manifest_yaml(), "run: uv run -m workbench.pages.words"


@pytest.mark.parametrize("socket_mode", [False, True])
def test_the_manifest_is_yaml_of_what_it_should_be(socket_mode: bool) -> None:
    wanted = manifest(PUBLIC_URL, socket_mode=socket_mode)
    text = manifest_yaml(PUBLIC_URL, socket_mode=socket_mode)
    assert yaml.safe_load(text) == wanted
    assert ("request_url" in text) is not socket_mode


def test_every_scope_that_a_used_method_needs_is_asked_for() -> None:
    needed = {"chat:write", "im:history", "im:read", "im:write", "assistant:write", "users:read", "commands"}
    needed |= {"users:read.email"}
    assert needed <= set(SCOPES)
    assert all(reason.startswith("to ") for reason in SCOPES.values())
