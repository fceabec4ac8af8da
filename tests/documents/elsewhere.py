"""What a reader who has a clone and nothing else cannot do of what the pages tell: why, and which test holds it."""

from typing import NamedTuple

from tests.documents.blocks import Block


class Elsewhere(NamedTuple):
    """A command or a block of a page that begins so, why it is not run as it stands, and a test of what it is about."""

    page: str
    begins: str
    why: str
    test: str = ""

    def is_about(self, block: Block, text: str) -> bool:
        return block.page == self.page and text.startswith(self.begins)


SMALL = "tests/onevalet/test_small_pages.py"
ELSEWHERE = (
    Elsewhere("README.md", "bin/dev", "it does not end", "tests/bin/test_first_answer.py"),
    Elsewhere("README.md", "bin/test", "it is what runs this"),
    Elsewhere("README.md", "OneValet is running.", "what is printed", "tests/shipping/test_documents.py"),
    Elsewhere("README.md", "a person ── provider", "a drawing"),
    Elsewhere(
        "docs/access.md", "bin/onevalet pair 7K3M", "a code is sent to somebody", "tests/onevalet/cli/test_pair.py"
    ),
    *(
        Elsewhere("docs/account-tools.md", begins, "Dovecot", "tests/abilities/accounts/test_tools_page.py")
        for begins in ("bin/test", "tests/", "postbox/")
    ),
    Elsewhere("docs/agents.md", "agents:", "a part of a file", "tests/onevalet/wiring/test_wiring.py"),
    Elsewhere("docs/backup.md", "bin/onevalet restore", "two databases", "tests/onevalet/cli/test_backup.py"),
    Elsewhere("docs/backup.md", "bin/onevalet keys backup", "a passphrase", "tests/onevalet/cli/test_backup.py"),
    Elsewhere("docs/channels/sms.md", "bin/onevalet channels setup", "Twilio", "tests/contract/test_operator.py"),
    Elsewhere("docs/channels/telegram.md", "bin/onevalet channels setup", "a bot", "tests/contract/test_operator.py"),
    Elsewhere("docs/backup.md", "# /etc/pgbackrest", "pgBackRest"),
    Elsewhere("docs/credentials.md", "post/sending.py", "no test on the page", SMALL),
    Elsewhere("docs/deploy.md", "FROM onevalet", "Docker"),
    Elsewhere("docs/deploy.md", "upstream onevalet", "nginx", "tests/shipping/test_proxies.py"),
    Elsewhere("docs/deploy.md", "valet.example.com {", "Caddy", "tests/shipping/test_deploy_page.py"),
    Elsewhere("docs/deploy.md", "docker ", "Docker", "tests/shipping/test_compose.py"),
    Elsewhere("docs/deploy.md", "bin/uv export", "the packages' index", "tests/shipping/test_dockerfile.py"),
    Elsewhere("docs/deploy.md", "cd /opt/onevalet", "root", "tests/shipping/test_systemd.py"),
    Elsewhere("docs/deploy.md", "python3.12 -m venv", "root"),
    Elsewhere("docs/deploy.md", ".venv/bin/pip", "the packages' index", "tests/shipping/test_deploy_page.py"),
    Elsewhere("docs/deploy.md", "install ", "root", "tests/shipping/test_systemd.py"),
    Elsewhere("docs/deploy.md", "echo 'DATABASE_URL", "root", "tests/shipping/test_systemd.py"),
    Elsewhere("docs/deploy.md", "cp -r deploy/systemd", "root", "tests/shipping/test_systemd.py"),
    Elsewhere("docs/deploy.md", "system", "systemd", "tests/shipping/test_systemd.py"),
    Elsewhere("docs/deploy.md", "kubectl ", "a cluster", "tests/shipping/test_chart.py"),
    Elsewhere("docs/deploy.md", "helm ", "a cluster", "tests/shipping/test_chart.py"),
    Elsewhere("docs/deploy.md", "image: {", "values of the chart", "tests/shipping/test_chart.py"),
    Elsewhere("docs/deploy.md", "create role", "a cluster of one's own", "tests/shipping/test_compose.py"),
    Elsewhere("docs/events.md", "house/bells.py", "no test on the page", SMALL),
    Elsewhere("docs/events.md", "curl", "web", "tests/abilities/events/test_receive.py"),
    Elsewhere(
        "docs/extending.md", "ONEVALET_PLUGINS=agents,habits", "an own folder", "tests/abilities/test_addition.py"
    ),
    Elsewhere("docs/extending.md", "ONEVALET_PLUGINS=agents,lunch bin/dev", "it does not end"),
    Elsewhere("docs/extending.md", "lunch/wishes.py", "no test on the page", "tests/agents/test_extending.py"),
    Elsewhere("docs/first-hour.md", "bin/dev", "it does not end", "tests/bin/test_first_answer.py"),
    Elsewhere("docs/first-hour.md", "bin/onevalet init", "providers' accounts", "tests/onevalet/init/test_flags.py"),
    Elsewhere("docs/first-hour.md", "bin/onevalet pair CODE", "a code is sent", "tests/onevalet/cli/test_pair.py"),
    Elsewhere("docs/mcp.md", "[servers.time]", "a server elsewhere", "tests/operations/programs"),
    Elsewhere("docs/mcp.md", "bin/onevalet mcp", "a server elsewhere", "tests/abilities/mcp/test_accepting.py"),
    Elsewhere("docs/mcp.md", '{"mcpServers"', "another program's file", "tests/operations/programs"),
    Elsewhere("docs/memory.md", "koi/memory.py", "no test on the page", SMALL),
    Elsewhere(
        "docs/models.md", "OPENAI_API_KEY=… bin/uv run", "a paid model", "tests/workbench/benchmarks/test_assistant.py"
    ),
    Elsewhere("docs/models.md", "bin/uv run", "a model", "tests/workbench/benchmarks/test_assistant.py"),
    Elsewhere("docs/notifications.md", "bin/onevalet notify", "ntfy", "tests/onevalet/cli/test_notify.py"),
    Elsewhere("docs/plugins.md", "garden/watering.py", "no test on the page", "tests/onevalet/test_plugin_pages.py"),
    Elsewhere("docs/plugins.md", "logbook/channel.py", "no test on the page", "tests/onevalet/test_plugin_pages.py"),
    Elsewhere("docs/rules.md", "house/vacuum.py", "no test on the page", SMALL),
    Elsewhere(
        "docs/scenarios/README.md", "bin/onevalet simulate docs/scenarios/trip.scenario.toml --watch", "it stays"
    ),
    Elsewhere("docs/settings.md", "OLLAMA_CONTEXT_LENGTH=32768 ollama", "Ollama", "tests/shipping/test_local_model.py"),
    Elsewhere("docs/settings.md", "ollama", "Ollama", "tests/shipping/test_local_model.py"),
    Elsewhere("docs/settings.md", "llama-server", "llama.cpp", "tests/shipping/test_local_model.py"),
    Elsewhere("docs/undo.md", "house/", "no test on the page", SMALL),
)
