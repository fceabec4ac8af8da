"""The answer to the word that has recordings listened to again."""

from dataclasses import replace

from core.turns.stored import BegunTurn
from core.turns.words.asked import Asked


async def listen_again(asked: Asked) -> BegunTurn:
    """Go on with a turn over the recordings that could not be transcribed.

    If there are none, it is no such request: its text is a text like any other.
    """
    turn, files = asked.turn, asked.rooms.orchestrator.services.files
    request = turn.request
    message = request.inbound[-1]
    count = await files.intake.store.listen_again(request.tenant.id, message.id) if files is not None else 0
    if count:
        request = request.saying([replace(message, text="", media_count=count)])
    return replace(turn, command=None, request=request)
