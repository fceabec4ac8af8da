"""What `dev` wires to the simulator: accounts whose secrets nobody can know, and only where nobody else reaches it."""

import re
import stat
from pathlib import Path

import pytest
from pydantic import SecretStr

from core.errors import ConfigError
from onevalet.settings import Settings, load_settings
from workbench.dev.simulator_wiring import choose_simulated, local_url, simulator_config, wire_simulator
from workbench.simulator.config import SimulatorConfig

ALL = frozenset({"sms", "slack", "telegram"})
TELEGRAM = {"telegram_bot_token": SecretStr("7000000009:AAof-a-bot-that-is-real-0123456789-01")}


def _secrets(config: SimulatorConfig) -> list[str]:
    slack = config.slack
    mine = [slack.bot_token, slack.app_token, slack.signing_secret, slack.verification_token]
    return [config.twilio.auth_token, *mine, config.telegram.bot_token]


def test_each_folder_keeps_its_own_secrets_and_not_the_repositorys(tmp_path: Path) -> None:
    first, again, other = (_secrets(simulator_config(tmp_path / name)) for name in ("one", "one", "other"))
    assert first == again
    assert len({*first, *other, *_secrets(SimulatorConfig())}) == 18
    assert stat.S_IMODE((tmp_path / "one" / "simulator.key").stat().st_mode) == 0o600


def test_the_accounts_keep_their_ids_and_shapes(tmp_path: Path) -> None:
    made, known = simulator_config(tmp_path), SimulatorConfig()
    assert re.fullmatch("[0-9a-f]{32}", made.twilio.auth_token)
    assert re.fullmatch("[0-9a-f]{32}", made.slack.signing_secret)
    assert re.fullmatch(r"\d+:[A-Za-z0-9_-]{35}", made.telegram.bot_token)
    assert made.telegram.bot_id == known.telegram.bot_id
    assert (made.twilio.account_sid, made.slack.team_id) == (known.twilio.account_sid, known.slack.team_id)


def test_a_damaged_file_is_one_sentence_that_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "simulator.key").write_text("not a key")
    with pytest.raises(ConfigError, match=r"simulator\.key is damaged: delete it, and `dev` makes another\."):
        simulator_config(tmp_path)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "localhost", "LOCALHOST", "::1"])
@pytest.mark.parametrize("public_url", ["", "http://127.0.0.1:8080", "http://localhost:8080", "http://[::1]:8080"])
def test_on_loopback_every_channel_without_an_account_is_simulated(host: str, public_url: str) -> None:
    assert choose_simulated(_settings(host=host, public_url=public_url)) == (ALL, "")
    assert choose_simulated(_settings(host=host, public_url=public_url, **TELEGRAM)) == (ALL - {"telegram"}, "")


@pytest.mark.parametrize(
    ("host", "public_url", "sentence"),
    [
        ("0.0.0.0", "", "but HOST is 0.0.0.0: set HOST=127.0.0.1"),  # noqa: S104
        ("::", "", "but HOST is ::: set HOST=127.0.0.1"),
        ("192.0.2.7", "http://localhost", "but HOST is 192.0.2.7: set HOST=127.0.0.1"),
        ("127.0.0.1", "https://valet.example", "but PUBLIC_URL is https://valet.example: unset PUBLIC_URL"),
        ("127.0.0.1", "https://127.0.0.1.valet.example", "unset PUBLIC_URL"),
        ("127.0.0.1", "https://localhost@valet.example", "unset PUBLIC_URL"),
        ("127.0.0.1", "https://valet.example/localhost", "unset PUBLIC_URL"),
    ],
)
def test_on_a_reachable_host_no_channel_is_simulated_and_a_line_says_why(
    host: str, public_url: str, sentence: str
) -> None:
    channels, because = choose_simulated(_settings(host=host, public_url=public_url, **TELEGRAM))
    assert channels == frozenset()
    assert sentence in because
    with pytest.raises(ConfigError) as refused:
        choose_simulated(_settings(host=host, public_url=public_url))
    assert str(refused.value).startswith("Simulated channels are for this machine only, ")
    assert str(refused.value).endswith(", or configure a channel.")


def test_what_is_off_has_no_account_and_no_way_in(tmp_path: Path) -> None:
    settings = _settings(public_url="https://valet.example", **TELEGRAM)
    wired = wire_simulator(settings, simulator_config(tmp_path), "http://127.0.0.1:8081").settings
    assert (wired.sms_on, wired.slack_on, wired.telegram_on) == (False, False, True)


@pytest.mark.parametrize(("host", "url"), [("::", "http://[::1]:80"), ("::1", "http://[::1]:80"), ("a", "http://a:80")])
def test_the_gateway_is_reached_locally_on_any_listen_address(host: str, url: str) -> None:
    assert local_url(_settings(host=host, port=80)) == url


@pytest.mark.parametrize("value", ["https://valet.example", "valet.example:443", "a b", "a/b", "a@b"])
def test_a_host_that_is_none_is_named_with_its_setting(value: str) -> None:
    with pytest.raises(ConfigError, match=r"^ONEVALET_ALLOWED_HOSTS cannot be used: .* is no host"):
        load_settings(_env_file=None, onevalet_allowed_hosts=value)


def _settings(**values: object) -> Settings:
    accounts = {"twilio_account_sid": "", "slack_bot_token": None, "telegram_bot_token": None}
    return Settings(_env_file=None, **{"host": "127.0.0.1", "public_url": "", **accounts, **values})  # type: ignore[arg-type]
