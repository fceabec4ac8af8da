"""All settings, from the environment or `.env`, in a single class; nothing else reads the environment."""

from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, override
from urllib.parse import unquote, urlsplit

from pydantic import Field, SecretStr, ValidationError
from pydantic.fields import FieldInfo
from pydantic_settings import (
    BaseSettings,
    DotEnvSettingsSource,
    EnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from core.errors import ConfigError
from core.messaging.capabilities import SegmentBudget, read_prices
from core.notifications.types import NotificationPolicy
from core.people.access_policy import Access, Policy, parse_listed
from core.people.tiers import Tiers, read_tiers
from core.queue.limits import BacklogLimits
from onevalet.ability import OwnSettings, SettingFamily
from onevalet.ability_registry import all_abilities
from onevalet.backup_settings import BackupSettings
from onevalet.channel_settings import check_channels, check_tokens
from onevalet.file_settings import Origin, check_files
from onevalet.kept_settings import KeptSettings
from onevalet.mail_settings import MailSettings, check_mailbox
from onevalet.money_settings import MoneySettings
from onevalet.setting_types import (
    Collector,
    DatabaseUrl,
    HostNames,
    Identities,
    Names,
    RedisUrl,
    SecretKeyTexts,
    Secrets,
    SegmentPrices,
)

LOOP_PREFIX = "onevalet_loop_"

_OWN: tuple[OwnSettings[Any], ...] = tuple(
    ability.settings() for ability in all_abilities() if ability.settings is not None
)
_FAMILIES = (SettingFamily(LOOP_PREFIX, "loop"), *(own.family for own in _OWN if own.family is not None))
if TYPE_CHECKING:

    class _OfAbilities(BaseSettings):
        """The settings of all abilities, which `Settings.of` returns one by one."""
else:
    _OfAbilities = type("_OfAbilities", (*(own.kind for own in _OWN), BaseSettings), {"__module__": __name__})


class Settings(MailSettings, BackupSettings, KeptSettings, MoneySettings, _OfAbilities):
    """All settings of an operator. A channel is on when its group is complete; an incomplete group is an error."""

    model_config = SettingsConfigDict(
        env_file=".env", env_ignore_empty=True, extra="ignore", frozen=True, hide_input_in_errors=True
    )

    database_url: DatabaseUrl = None
    onevalet_router_url: DatabaseUrl = None
    redis_url: RedisUrl = None
    host: str = "127.0.0.1"
    port: int = Field(default=8080, ge=0, le=65535)
    public_url: Origin = ""
    onevalet_allowed_hosts: HostNames = ()

    onevalet_home: Path = Path(".onevalet")
    onevalet_model: str = ""
    onevalet_fallback_models: Names = ()
    onevalet_small_model: str = ""
    onevalet_model_keys: Secrets = ()
    onevalet_reasoning_effort: Literal["", "minimal", "low", "medium", "high"] = ""
    onevalet_tool_mode: Literal["auto", "native", "json"] = "auto"
    onevalet_system_prompt: str = ""
    onevalet_name: str = ""
    onevalet_plugins: Names = ("agents",)
    onevalet_channels: Names = ()
    onevalet_access: Policy = Policy.PAIRING
    onevalet_allow: Identities = ()
    onevalet_tiers: str = ""
    onevalet_secret_keys: SecretKeyTexts = ()
    onevalet_fetch_hosts: Names = ()
    onevalet_flights_key: SecretStr | None = None
    onevalet_rate_per_minute: int = Field(default=30, ge=1)
    onevalet_most_waiting: int = Field(default=100, ge=1)
    onevalet_log: Literal["text", "json"] = "text"
    onevalet_console_texts: Literal["on", "off"] = "off"
    onevalet_clock: Path | None = None
    onevalet_health_file: Path | None = None
    onevalet_metrics_port: int | None = Field(default=None, ge=0, le=65535)
    onevalet_metrics_token: SecretStr | None = None
    otel_exporter_otlp_endpoint: Collector = ""
    otel_instrumentation_genai_capture_message_content: bool = False
    onevalet_notify_fallback_minutes: int | None = Field(default=None, ge=1)
    loop: dict[str, str] = Field(default_factory=dict, exclude=True)
    """`ONEVALET_LOOP_<NAME>` for each number of ReactLoopConfig, by lower-case name."""

    twilio_account_sid: str = ""
    twilio_auth_token: SecretStr | None = None
    twilio_from: str = ""
    twilio_api_url: Origin = "https://api.twilio.com"
    twilio_opt_out: Literal["twilio", "ours"] = "twilio"
    onevalet_sms_bare_ok: Literal["on", "off"] = "on"
    onevalet_sms_plain_letters: Literal["on", "off"] = "off"

    onevalet_sms_segments_person_day: int = Field(default=200, ge=1, le=1_000_000)
    onevalet_sms_price: SegmentPrices = ()

    slack_bot_token: SecretStr | None = None
    slack_signing_secret: SecretStr | None = None
    slack_app_token: SecretStr | None = None
    slack_api_url: str = "https://slack.com/api/"

    telegram_bot_token: SecretStr | None = None
    telegram_webhook_secret: SecretStr | None = None
    telegram_api_url: Origin = "https://api.telegram.org"

    ntfy_url: Origin = "https://ntfy.sh"
    ntfy_token: SecretStr | None = None
    apprise_url: Origin = ""

    @classmethod
    @override
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Read the environment before `.env`, and collect from both the variables with chosen names."""
        families = _FamilySource(settings_cls, env_settings, dotenv_settings)
        return init_settings, families, env_settings, dotenv_settings

    def of[Kind: BaseSettings](self, kind: type[Kind]) -> Kind:
        """Return the settings of an ability. Raises `TypeError` if no ability declares them."""
        if not isinstance(self, kind):
            raise TypeError(f"no ability declares {kind.__name__}")
        return self

    def keys_for(self, model: str) -> tuple[str, ...]:
        """Return the keys of ONEVALET_MODEL if a model is of its provider; else the provider's own variable counts."""
        same = model.partition("/")[0] == self.onevalet_model.partition("/")[0]
        return tuple(key.get_secret_value() for key in self.onevalet_model_keys) if same else ()

    @property
    def sms_on(self) -> bool:
        return bool(self.twilio_account_sid and self.twilio_auth_token and self.twilio_from and self.public_url)

    @property
    def slack_on(self) -> bool:
        """Return whether the Slack group is complete, for Socket Mode or for HTTP."""
        over_http = self.slack_signing_secret and self.public_url
        return bool(self.slack_bot_token and (self.slack_app_token or over_http))

    @property
    def telegram_on(self) -> bool:
        """Return whether the Telegram group is complete, for long polling or for a webhook."""
        return bool(self.telegram_bot_token and (self.public_url or not self.telegram_webhook_secret))

    @property
    def manners(self) -> NotificationPolicy:
        minutes = self.onevalet_notify_fallback_minutes
        return NotificationPolicy(fall_back_after=timedelta(minutes=minutes) if minutes else None)

    @property
    def sms_budget(self) -> SegmentBudget:
        """Return the number of segments that may be sent, and their prices."""
        of_person = self.onevalet_sms_segments_person_day
        prices = read_prices(self.onevalet_sms_price, self.onevalet_currency.per_dollar)
        return SegmentBudget(person_day=of_person, all_day=25 * of_person, prices=prices)

    @property
    def codes_only(self) -> frozenset[str]:
        """Return the channels on which approvals are decided by code only."""
        return frozenset() if self.onevalet_sms_bare_ok == "on" else frozenset({"sms"})

    @property
    def waiting(self) -> BacklogLimits:
        """Return the number of messages that may wait."""
        return BacklogLimits(self.onevalet_most_waiting, 100 * self.onevalet_most_waiting)

    @property
    def access(self) -> Access:
        return Access(self.onevalet_access, frozenset(parse_listed(entry) for entry in self.onevalet_allow))

    @property
    def tiers(self) -> Tiers:
        return read_tiers(self.onevalet_tiers, self.onevalet_rate_per_minute, self.onevalet_currency)

    @property
    def for_tools(self) -> dict[str, str]:
        """Return the settings that tools read as `context.settings`."""
        key = self.onevalet_flights_key
        found = {"flights_key": key.get_secret_value() if key else ""}
        for own in _OWN:
            found |= own.for_tools(self)
        return found

    @property
    def tool_origins(self) -> tuple[str, ...]:
        """Return the servers that tools may reach because the operator named them."""
        return tuple(origin for own in _OWN for origin in own.origins(self) if origin)

    @property
    def embedders(self) -> dict[str, str]:
        """Return the models that texts are embedded by, by the settings that name them."""
        return {name: model for own in _OWN for name, model in own.embedders(self).items()}

    @property
    def further_models(self) -> dict[str, str]:
        """Return the further models of abilities, by the settings that name them."""
        return {name: model for own in _OWN for name, model in own.models(self).items()}

    def secrets(self) -> list[str]:
        """Return every secret that is set, to be redacted in logs; passwords inside URLs too."""
        values: list[str] = []
        for name in type(self).model_fields:
            value = getattr(self, name)
            items = value if isinstance(value, tuple) else (value,)
            values += [item.get_secret_value() for item in items if isinstance(item, SecretStr)]
        for own in _OWN:
            values += own.secrets(self)
        return values + [password for url in values for password in _passwords(url)]

    @property
    def assistant_name(self) -> str:
        """Return the assistant's name; empty if only its persona may give it."""
        return self.onevalet_name or ("" if self.onevalet_system_prompt else "OneValet")

    @property
    def system_prompt(self) -> str:
        """Return the persona: the text itself, or the content of the file named after `@`."""
        text = self.onevalet_system_prompt
        if not text.startswith("@"):
            return text
        try:
            return Path(text[1:]).read_text(encoding="utf-8")
        except OSError as error:
            raise ConfigError(f"ONEVALET_SYSTEM_PROMPT names {text[1:]}, which cannot be read.") from error


def load_settings(**overrides: object) -> Settings:
    """Read and check all settings; raise `ConfigError` with a sentence that names the remedy."""
    try:
        settings = Settings(**overrides)  # type: ignore[arg-type]
    except ValidationError as error:
        raise ConfigError(sentence_of(error)) from error
    check_channels(settings)
    check_mailbox(settings)
    check_tokens(settings)
    check_files(settings)
    for own in _OWN:
        own.check(settings)
    settings.tiers  # noqa: B018 - read once here, so that a mistake is told at start
    return settings


def is_setting(name: str) -> bool:
    """Return whether a variable is a setting of this installation, whose abilities bring theirs."""
    return name.lower() in Settings.model_fields or name.lower().startswith(tuple(one.prefix for one in _FAMILIES))


def sentence_of(error: ValidationError) -> str:
    """Return the problem with the first invalid setting, without its value."""
    first = error.errors()[0]
    name = "_".join(str(item) for item in first["loc"][:1]).upper()
    return f"{name} cannot be used: {first['msg'].removeprefix('Value error, ')}."


def _passwords(url: str) -> set[str]:
    """Return the password of a URL, as it stands there and as it is sent."""
    try:
        password = urlsplit(url).password
    except ValueError:
        return set()
    return {password, unquote(password)} if password else set()


class _FamilySource(PydanticBaseSettingsSource):
    """Collect the variables of families, whose names no field has."""

    def __init__(self, settings_cls: type[BaseSettings], *sources: PydanticBaseSettingsSource) -> None:
        super().__init__(settings_cls)
        self._sources = [s for s in sources if isinstance(s, EnvSettingsSource | DotEnvSettingsSource)]

    @override
    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[object, str, bool]:
        """Return nothing for single fields: `__call__` returns all of them."""
        return None, field_name, False

    @override
    def __call__(self) -> dict[str, object]:
        """Return the field of each family that is set; the environment wins over `.env`."""
        given = {name: value for s in reversed(self._sources) for name, value in s.env_vars.items() if value}
        found: dict[str, object] = {}
        for family in _FAMILIES:
            rests = {name.removeprefix(family.prefix): given[name] for name in given if name.startswith(family.prefix)}
            if rests:
                found[family.field] = family.read(rests)
        return found
