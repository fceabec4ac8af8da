"""Have the answer of this turn spoken, if the person asks for it beside something else."""

from onevalet import gettext_noop, tool


@tool(name="say_aloud", effect="read", needs_setting="speech_model", group="", title=gettext_noop("say it aloud"))
async def say_aloud() -> str:
    """Send your answer of this turn as a recording too, after its text. Only if the person asks to hear it."""
    return "Your answer goes out in writing, and is then spoken. Write it as usual, and do not mention the recording."
