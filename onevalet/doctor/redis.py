"""Whether Redis answers, and keeps what waits over a restart."""

from collections.abc import Sequence

from redis.exceptions import RedisError

from core.db.redis_client import redis_client
from core.messaging.channels import Check
from onevalet.doctor.types import Installation


async def check_redis(installation: Installation) -> Sequence[Check]:
    """Check whether it answers, and whether its AOF is on."""
    if installation.database is None:
        return []
    if not installation.redis_url:
        return [Check("redis", False, "REDIS_URL is not set", "set REDIS_URL")]
    try:
        async with redis_client(installation.redis_url, socket_timeout=3, socket_connect_timeout=3) as redis:
            await redis.ping()
            aof = await redis.config_get("appendonly")
    except (RedisError, OSError) as error:
        return [Check("redis", False, f"does not answer ({type(error).__name__})", "start it, or correct REDIS_URL")]
    kept = aof.get("appendonly") == "yes"
    return [Check("redis", True, "answers", "" if kept else "turn its AOF on: a restart then delays nothing")]
