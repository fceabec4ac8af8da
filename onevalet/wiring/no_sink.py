"""A sink for commands that only look at channels: it takes no messages."""

from core.errors import OneValetError
from core.messaging.channels import Received
from core.messaging.inbound import Inbound


class NoSink:
    """The sink of commands that only check or set up channels: it accepts nothing."""

    async def accept(self, inbound: Inbound) -> Received:
        raise OneValetError("nothing is taken in here")
