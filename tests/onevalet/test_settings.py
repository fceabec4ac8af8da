"""Settings: half a group is named in one sentence."""

import subprocess
import sys
from pathlib import Path

import pytest

from core.errors import ConfigError
from core.messaging.capabilities import SegmentBudget
from core.people.access_policy import Access, Policy
from onevalet.settings import Settings, load_settings
from onevalet.wiring.file_store import file_limits
from workbench.dev.simulator_wiring import simulator_config
from workbench.simulator.config import SimulatorConfig

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in Settings.model_fields:
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.chdir(tmp_path)


BOT = "7000000001:AAof-a-bot-for-the-tests-0123456789"
WHOLE = {
    "TWILIO_ACCOUNT_SID": "AC0123456789abcdef0123456789abcdef",
    "TWILIO_AUTH_TOKEN": "secret-token",
    "TWILIO_FROM": "+15550001111",
    "PUBLIC_URL": "https://a.example",
    "SLACK_BOT_TOKEN": "xoxb-1",
    "SLACK_APP_TOKEN": "xapp-1",
    "TELEGRAM_BOT_TOKEN": BOT,
}

MAILBOX = {
    "ONEVALET_MAIL_ADDRESS": "Valet@Example.org",
    "ONEVALET_MAIL_IMAP_URL": "imaps://mail.example.org",
    "ONEVALET_MAIL_AUTHSERV_ID": "mx.example.org",
    "SMTP_HOST": "mail.example.org",
    "SMTP_FROM": "Valet <valet@example.org>",
    "SMTP_USER": "valet",
    "SMTP_PASSWORD": "secret-token",
}


def test_empty_settings_are_valid_with_only_the_terminal_channel_on() -> None:
    settings = load_settings()
    assert (settings.sms_on, settings.slack_on, settings.telegram_on) == (False, False, False)
    assert settings.onevalet_plugins == ("agents",)


@pytest.mark.parametrize(
    ("given", "missing"),
    [
        ({"TWILIO_FROM": "+15550001111"}, ["TWILIO_ACCOUNT_SID", "TWILIO_AUTH_TOKEN", "PUBLIC_URL"]),
        (
            {"TWILIO_FROM": "+1", "TWILIO_ACCOUNT_SID": "AC1", "TWILIO_AUTH_TOKEN": "secret-token"},
            ["PUBLIC_URL"],
        ),
        ({"SLACK_BOT_TOKEN": "xoxb-1"}, ["SLACK_SIGNING_SECRET", "PUBLIC_URL"]),
        ({"SLACK_APP_TOKEN": "xapp-1"}, ["SLACK_BOT_TOKEN"]),
        ({"SLACK_SIGNING_SECRET": "s", "PUBLIC_URL": "https://a.example"}, ["SLACK_BOT_TOKEN"]),
        ({"TELEGRAM_WEBHOOK_SECRET": "s"}, ["TELEGRAM_BOT_TOKEN", "PUBLIC_URL"]),
        (
            {"ONEVALET_MAIL_ADDRESS": "valet@example.org"},
            ["ONEVALET_MAIL_IMAP_URL", "ONEVALET_MAIL_AUTHSERV_ID", "SMTP_USER", "SMTP_PASSWORD", "SMTP_HOST"],
        ),
        ({"ONEVALET_MAIL_AUTHSERV_ID": "mx.example.org"}, ["ONEVALET_MAIL_ADDRESS"]),
    ],
)
def test_half_a_channel_is_named_with_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, given: dict[str, str], missing: list[str]
) -> None:
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ConfigError) as caught:
        load_settings()
    for name in missing:
        assert name in str(caught.value)
    assert "secret-token" not in str(caught.value)


@pytest.mark.parametrize(
    "given",
    [
        {"SLACK_BOT_TOKEN": "xoxb-1", "SLACK_APP_TOKEN": "xapp-1"},
        {"SLACK_BOT_TOKEN": "xoxb-1", "SLACK_SIGNING_SECRET": "s", "PUBLIC_URL": "https://a.example"},
        {"TELEGRAM_BOT_TOKEN": BOT},
        {"TELEGRAM_BOT_TOKEN": BOT, "TELEGRAM_WEBHOOK_SECRET": "s", "PUBLIC_URL": "https://a.example"},
    ],
)
def test_a_whole_group_is_on(monkeypatch: pytest.MonkeyPatch, given: dict[str, str]) -> None:
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    settings = load_settings()
    assert settings.slack_on is ("SLACK_BOT_TOKEN" in given)
    assert settings.telegram_on is ("TELEGRAM_BOT_TOKEN" in given)


def test_a_mailbox_is_on_with_the_login_of_the_mail_server(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in MAILBOX.items():
        monkeypatch.setenv(name, value)
    settings = load_settings()
    assert settings.mailbox_on
    assert settings.onevalet_mail_address == "valet@example.org"
    assert settings.mailbox_user == "valet"
    assert settings.mailbox_password is not None
    assert settings.mailbox_password.get_secret_value() == "secret-token"


def test_a_mailbox_may_have_a_login_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    url = "imaps://ann%40example.org:s%2Fecret-of-imap@mail.example.org:1993"
    for name, value in {**MAILBOX, "ONEVALET_MAIL_IMAP_URL": url}.items():
        monkeypatch.setenv(name, value)
    settings = load_settings()
    password = settings.mailbox_password
    assert (settings.mailbox_url, settings.mailbox_user) == ("imaps://mail.example.org:1993", "ann@example.org")
    assert password is not None
    assert password.get_secret_value() == "s/ecret-of-imap"
    assert {url, "s%2Fecret-of-imap", "s/ecret-of-imap"} <= set(settings.secrets())


def test_a_mailbox_at_microsoft_is_refused_with_the_page_that_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {**MAILBOX, "ONEVALET_MAIL_IMAP_URL": "imaps://outlook.office365.com"}.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ConfigError, match=r"Microsoft's do not: docs/channels/email\.md"):
        load_settings()


@pytest.mark.parametrize(
    "server", ["imaps://outlook.example.org", "imaps://myoutlook.com", "imaps://imap.outlook.com.example"]
)
def test_a_server_that_is_called_like_theirs_is_taken(monkeypatch: pytest.MonkeyPatch, server: str) -> None:
    for name, value in {**MAILBOX, "ONEVALET_MAIL_IMAP_URL": server}.items():
        monkeypatch.setenv(name, value)
    assert load_settings().mailbox_url == server


@pytest.mark.parametrize(
    ("setting", "wrong"),
    [
        ("ONEVALET_MAIL_ADDRESS", "valet"),
        ("ONEVALET_MAIL_IMAP_URL", "https://mail.example.org"),
        ("ONEVALET_MAIL_IMAP_URL", "imaps://user@mail.example.org"),
        ("ONEVALET_MAIL_IMAP_URL", "imaps://outlook.office365.com"),
        ("ONEVALET_MAIL_IMAP_URL", "imaps://imap-mail.outlook.com:993"),
        ("ONEVALET_MAIL_IMAP_URL", "imaps://OUTLOOK.office.com"),
        ("ONEVALET_MAIL_AUTHSERV_ID", "mx.example.org; dmarc=pass"),
    ],
)
def test_a_wrong_setting_of_a_mailbox_is_named(monkeypatch: pytest.MonkeyPatch, setting: str, wrong: str) -> None:
    for name, value in {**MAILBOX, setting: wrong}.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ConfigError, match=setting):
        load_settings()


@pytest.mark.parametrize(
    ("setting", "wrong"),
    [
        ("TWILIO_ACCOUNT_SID", "SK0123456789abcdef0123456789abcdef"),
        ("TWILIO_ACCOUNT_SID", "AC0123456789abcdef"),
        ("SLACK_BOT_TOKEN", "xoxp-canary-71aa"),
        ("SLACK_BOT_TOKEN", "canary-71aa"),
        ("SLACK_APP_TOKEN", "xoxb-canary-71aa"),
        ("TELEGRAM_BOT_TOKEN", "canary-71aa"),
        ("TELEGRAM_BOT_TOKEN", "7000000001:canary-71aa"),
        ("TELEGRAM_BOT_TOKEN", "@bot:AAof-a-bot-for-the-tests-0123456789"),
    ],
)
def test_a_token_that_nobody_can_have_issued_is_refused_by_name(
    monkeypatch: pytest.MonkeyPatch, setting: str, wrong: str
) -> None:
    for name, value in WHOLE.items():
        monkeypatch.setenv(name, value)
    load_settings()
    monkeypatch.setenv(setting, wrong)
    with pytest.raises(ConfigError) as caught:
        load_settings()
    assert str(caught.value).startswith(f"{setting} cannot be used: it has the form ")
    assert wrong not in str(caught.value)


def test_a_rotated_slack_token_and_those_of_the_simulator_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (WHOLE | {"SLACK_BOT_TOKEN": "xoxe.xoxb-1-abc"}).items():
        monkeypatch.setenv(name, value)
    load_settings()
    for config in (SimulatorConfig(), simulator_config(tmp_path)):
        monkeypatch.setenv("TWILIO_ACCOUNT_SID", config.twilio.account_sid)
        monkeypatch.setenv("SLACK_BOT_TOKEN", config.slack.bot_token)
        monkeypatch.setenv("SLACK_APP_TOKEN", config.slack.app_token)
        monkeypatch.setenv("TELEGRAM_BOT_TOKEN", config.telegram.bot_token)
        load_settings()


def test_the_loops_numbers_are_read_from_the_environment_and_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    Path(".env").write_text("ONEVALET_LOOP_MAX_TURNS=3\nONEVALET_LOOP_LLM_TIMEOUT=9\nONEVALET_LOOP_MAX_STEPS\n")
    monkeypatch.setenv("ONEVALET_LOOP_MAX_TURNS", "5")
    monkeypatch.setenv("ONEVALET_LOOP_LLM_TIMEOUT", "")
    assert load_settings().loop == {"max_turns": "5", "llm_timeout": "9"}


def test_secrets_are_listed_for_the_logs_with_the_passwords_in_urls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://valet:pass-word-1@db.example/valet")
    monkeypatch.setenv("ONEVALET_MODEL_KEYS", "key-one-1,key-two-2")
    assert {"pass-word-1", "key-one-1", "key-two-2"} <= set(load_settings().secrets())


@pytest.mark.whole("it starts a process of its own; cli/test_wrong_input.py forks those of other commands")
def test_a_missing_address_is_one_sentence_and_exit_code_2(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "onevalet", "web"],
        cwd=ROOT,
        env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "ONEVALET_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert done.stderr.strip().count("\n") == 0
    assert "DATABASE_URL" in done.stderr


def test_strangers_meet_pairing_unless_told_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_settings().access == Access(Policy.PAIRING)
    monkeypatch.setenv("ONEVALET_ACCESS", "allowlist")
    monkeypatch.setenv("ONEVALET_ALLOW", "sms:+15551234567, telegram:77")
    assert load_settings().access.admits("telegram", "123", "77") == "allowlist"


def test_one_number_bounds_a_person_and_all_people(monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_settings().sms_budget == SegmentBudget()
    monkeypatch.setenv("ONEVALET_SMS_SEGMENTS_PERSON_DAY", "8")
    monkeypatch.setenv("ONEVALET_FILES_ALL_MB", "100")
    settings = load_settings()
    assert (settings.sms_budget.person_day, settings.sms_budget.all_day) == (8, 200)
    limits = file_limits(settings)
    assert (limits.person, limits.everybody) == (2 * 1024 * 1024, 100 * 1024 * 1024)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ONEVALET_ACCESS", "friends"),
        ("ONEVALET_ALLOW", "telegram:@ada"),
        ("ONEVALET_TIERS", '{"guest": {"tool": []}}'),
        ("ONEVALET_TIERS", "@nowhere.toml"),
    ],
)
def test_a_mistake_in_who_may_write_is_told_at_start(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ConfigError, match=name):
        load_settings()
