"""What the tests of the loop share: a scripted model in process, and values that are always the same."""

import structlog

from core.clock import Clock
from core.context import NoCredentials, NoHttp, ToolExecutionContext


def a_context(**changes: str) -> ToolExecutionContext:
    """Make the context of some call."""
    values = {"tenant_id": "tenant", "turn_id": "turn", "idempotency_key": "key", **changes}
    return ToolExecutionContext(
        **values, clock=Clock(), credentials=NoCredentials(), http=NoHttp(), log=structlog.get_logger()
    )
