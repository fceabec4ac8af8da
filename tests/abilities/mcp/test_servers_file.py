"""The file of MCP servers, and what its author is told."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from abilities.mcp.servers_file import read_servers
from abilities.mcp.types import McpServer
from core.errors import ConfigError

WHOLE = """
[servers.time]
command = ["uvx", "mcp-server-time"]
env = { KEY = "env:TIME_KEY" }
read_only = ["get_*"]

[servers.linear]
url = "https://mcp.linear.example/mcp"
headers = { Authorization = "Bearer env:TIME_KEY" }
allow = ["list_issues"]
resources = true
high_risk = ["delete_*"]
timeout = 10
"""


def _read(tmp_path: Path, text: str, **environment: str) -> Sequence[McpServer]:
    path = tmp_path / "mcp.toml"
    path.write_text(text)
    return read_servers(path, environment)


def test_a_file_is_read_with_its_secrets_from_the_environment(tmp_path: Path) -> None:
    time, linear = _read(tmp_path, WHOLE, TIME_KEY="k3y")
    assert (time.command, time.env, time.trusts_to_read("get_x"), time.allows("any")) == (
        ("uvx", "mcp-server-time"),
        {"KEY": "k3y"},
        True,
        True,
    )
    assert linear.headers == {"Authorization": "Bearer k3y"}
    assert (linear.allows("delete_issue"), linear.is_high_risk("delete_issue"), linear.resources) == (False, True, True)
    assert "k3y" not in repr(time) + repr(linear)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[servers.time]", "needs a command or a url"),
        ('[servers.time]\ncommand = ["x"]\nurl = "https://a.example"', "not both"),
        ('[servers.Time]\ncommand = ["x"]', "servers.Time"),
        ('[servers.time]\nurl = "file:///etc/passwd"', "is no web address"),
        ('[servers.time]\nurl = "https://u:p@a.example"', "is no web address"),
        ('[servers.time]\ncommand = ["x"]\naccount = "linear:mcp"', "are for a url"),
        ('[servers.time]\nurl = "https://a.example"\naccount = "mail"', "names no service"),
        ('[servers.time]\ncommand = ["x"]\nshell = true', "servers.time.shell"),
        ('[servers.time]\ncommand = ["x"]\nenv = { A = "env:NOT_SET" }', "NOT_SET, which is not set"),
        ("servers = 1 2", "is no TOML"),
    ],
)
def test_a_mistake_is_named_in_one_sentence(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(ConfigError, match=r"mcp\.toml") as raised:
        _read(tmp_path, text)
    assert told in str(raised.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        read_servers(tmp_path / "none.toml")
