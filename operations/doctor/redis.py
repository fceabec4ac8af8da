"""The checks that Redis answers, and keeps waiting work over a restart."""

from collections.abc import Mapping, Sequence

from redis.exceptions import RedisError, ResponseError

from core.db.redis_client import redis_client
from core.messaging.channels import Check
from operations.doctor.types import Installation


async def check_redis(installation: Installation) -> Sequence[Check]:
    """Check whether it answers, whether its AOF is on and written, and that it forgets nothing by itself."""
    if installation.database is None:
        return []
    if not installation.redis_url:
        return [Check("redis", False, "REDIS_URL is not set", "set REDIS_URL")]
    try:
        async with redis_client(installation.redis_url, socket_timeout=3, socket_connect_timeout=3) as redis:
            await redis.ping()
            state = await redis.info("persistence") | await redis.info("memory")
    except ResponseError:  # some hosts do not let their customers ask
        return [Check("redis", True, "answers; it does not say how it keeps its data")]
    except (RedisError, OSError) as error:
        detail, fix = f"does not answer ({type(error).__name__})", "start it, or correct REDIS_URL"
        return [Check.failed("redis", error, detail, fix)]
    return [Check("redis", True, "answers", _advice(state)), *_failures(state)]


def _advice(state: Mapping[str, object]) -> str:
    if not int(str(state.get("aof_enabled", 1))):
        return "turn its AOF on: a restart then delays nothing"
    if str(state.get("maxmemory_policy", "noeviction")) != "noeviction":
        return "set its maxmemory-policy to noeviction: what it evicts is found again seconds later"
    return ""


def _failures(state: Mapping[str, object]) -> list[Check]:
    failed = [name for name in ("aof_last_write_status", "rdb_last_bgsave_status") if state.get(name, "ok") != "ok"]
    if not failed:
        return []
    fix = "make room on its disk, and see its log: a restart would delay what waits"
    return [Check("redis' disk", False, f"its last write failed ({', '.join(failed)})", fix)]
