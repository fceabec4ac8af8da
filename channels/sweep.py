"""Handing in the results of a sweep: a message that fails may not hold up all later messages."""

import structlog

from core.db.outages import is_store_error
from core.errors import StoreUnavailable
from core.messaging.channels import InboundSink, Received
from core.messaging.inbound import Inbound
from core.messaging.messages import IgnoredMessage, IgnoreReason, InboundMessage

_log = structlog.get_logger()


async def bring(sink: InboundSink, inbound: Inbound) -> Received:
    """Hand in a message of a sweep; if it fails twice, it is recorded and left out.

    A failing store is no reason to leave a message out: its error is raised.
    """
    try:
        return await sink.accept(inbound)
    except StoreUnavailable:
        raise
    except Exception as error:
        if is_store_error(error) or not isinstance(inbound, InboundMessage):
            raise
    try:
        return await sink.accept(inbound)
    except Exception as error:
        if isinstance(error, StoreUnavailable) or is_store_error(error):
            raise
        _log.exception("message_left_out", channel=inbound.address.channel)
    return await sink.accept(IgnoredMessage(inbound.address, inbound.sender, inbound.keys, IgnoreReason.BROKEN))
