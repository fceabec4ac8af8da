"""Every probe of `doctor`, in the order of its output."""

from onevalet.ability_registry import all_abilities
from operations.doctor.address import check_address
from operations.doctor.backups import check_backups
from operations.doctor.channels import check_channels
from operations.doctor.database import check_database, check_writes
from operations.doctor.disk import check_disk
from operations.doctor.extras import check_packages
from operations.doctor.keys import check_secret_keys
from operations.doctor.mail_and_push import check_mail, check_push
from operations.doctor.models import check_model
from operations.doctor.postgres import check_login, check_server
from operations.doctor.redis import check_redis
from operations.doctor.settings import check_names
from operations.doctor.types import Area, Probe, over_database, over_settings
from operations.doctor.work import (
    check_answers,
    check_delays,
    check_last_seen,
    check_texts,
    check_work,
    check_workers,
)

_PROBES = (
    over_settings(Area.SYSTEM, "packages", check_packages),
    over_settings(Area.SYSTEM, "disk", check_disk),
    over_settings(Area.SYSTEM, "settings", check_names),
    over_database(Area.DATABASE, "database", check_database),
    over_database(Area.DATABASE, "Postgres", check_server),
    over_database(Area.DATABASE, "database user", check_login),
    over_database(Area.DATABASE, "database writes", check_writes),
    Probe(Area.DATABASE, "backups", check_backups, needs_database=True),
    Probe(Area.REDIS, "redis", check_redis),
    over_database(Area.WORK, "workers", check_workers),
    over_database(Area.WORK, "work", check_work),
    over_database(Area.WORK, "texts", check_texts),
    over_database(Area.WORK, "sends without an answer", check_answers),
    over_database(Area.WORK, "delayed", check_delays),
    over_settings(Area.MODELS, "model", check_model, seconds=50.0),
    over_settings(Area.CHANNELS, "public address", check_address),
    Probe(Area.CHANNELS, "channels", check_channels, seconds=60.0),
    over_database(Area.CHANNELS, "last seen", check_last_seen),
    over_settings(Area.MAIL_AND_PUSH, "email", check_mail),
    over_settings(Area.MAIL_AND_PUSH, "push", check_push),
    Probe(Area.KEYS, "secret keys", check_secret_keys, needs_database=True),
)


def all_probes() -> tuple[Probe, ...]:
    """Return these, and those of the abilities; the findings follow the order of the areas."""
    loads = (ability.probes for ability in all_abilities() if ability.probes is not None)
    return (*_PROBES, *(probe for load in loads for probe in load()))
