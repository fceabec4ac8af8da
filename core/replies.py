"""The assistant's own sentences for when the model has none: plain, without internals (promise 14)."""

import re
from decimal import Decimal

from core.language.catalogue import gettext, gettext_noop

_NOTE, _NOTE_END = "<for_assistant>", "</for_assistant>"
_NOTES = re.compile(rf"\n?{_NOTE}.*?(?:{_NOTE_END}\n?|\Z)", re.DOTALL)

MODEL_DOWN = gettext_noop("I can't reach my language model right now. Please try again in a few minutes.")
TAKES_LONGER = gettext_noop("This takes longer than usual, but I am still on it: you need not ask again.")
MODEL_REFUSED = gettext_noop("My language model would not take this request. Please try to word it differently.")
MODEL_AUTH = gettext_noop(
    "I can't use my language model at the moment: the person who runs me has to check its settings."
)
MODEL_QUOTA = gettext_noop(
    "I can't use my language model at the moment: the person who runs me has to top up its account."
)
ONLY_TEXT_AND_FILES = gettext_noop("I can read text, photos, voice and files, but not this. Please tell me in words.")
NOTHING_SAID = gettext_noop("I'm sorry, I could not come up with an answer. Please try to word it differently.")
MODEL_WITHHELD = gettext_noop(
    "My language model's answer was withheld by its provider's filter; please try to word it differently."
)
NOT_DONE = gettext_noop("I may not do that.")
OUT_OF_TOKENS = gettext_noop("I stopped here: this request has reached the limit of what one message may cost.")
INTERRUPTED = gettext_noop("Stopped.")
TOO_FAST = gettext_noop("You are writing faster than I may answer. Please wait a minute, then write again.")
ANSWER_CUT_OFF = gettext_noop("(My answer grew too long, so it ends here. Ask me to go on if you want the rest.)")
REST_LEFT_OUT = gettext_noop("(The rest is left out: it is too long for a chat. Ask me for a part of it.)")
MISSING = gettext_noop(
    "An earlier message of mine may not have reached you; if you miss an answer, just ask me for it again."
)
SUMMARISE = (
    "You have taken enough steps. Give a final answer now from what you have gathered so far, without any "
    "tools. Say plainly what was not done."
)
SAY_SOMETHING = "Your last answer was empty. Answer the person, or call a tool."
GO_ON = "Go on with what is to be done; the person has said nothing new."
SAY_THIS = (
    "Before you can go on, say this to the person now. Keep every fact, option and question in it, use your own voice "
    "and the person's language, and add nothing:\n\n"
)
CARD_SHOWN = "(I asked for your approval {code}: {summary})"
"""How a card appears in the history of later turns, in a line of the answer that it came with."""


def note(text: str) -> str:
    """Return the end of a tool result that is for the model alone: advice on its next step."""
    return with_note("", text)


def with_note(text: str, note: str) -> str:
    """Return a tool's text with a note for the model alone at its end: advice on using the result."""
    return f"{text}\n{_NOTE}{note}{_NOTE_END}"


def without_notes(text: str) -> str:
    """Return a text as a person may read it, without notes for the model, in case a model repeats any."""
    return _NOTES.sub("", text).strip() if _NOTE in text else text


HANDED_OVER = note("It goes on at once, and what comes of it is said then.")
"""The end of a tool result that was handed over to a waiting turn."""
TELL_THEM = note("Tell the person in one sentence.")
"""The end of a tool result that the model only has to pass on."""
TOO_LONG_TO_APPROVE = (
    "Not run: this is too long to be shown in full in this chat, and nobody can approve what they are not shown."
    + note("Make it much shorter, or tell the person to ask for it in another chat, where more can be shown.")
)
CALL_CUT_OFF = "Not run: the answer with this call was cut off." + note(
    "Your answer reached its greatest length. Send the call again, with shorter arguments or with fewer other calls."
)
CANCELLED = "User cancelled this action."
TOOLS_CHANGED = (
    "The tools have changed since this turn began. What is recorded above did happen. Use only the tools "
    "that are offered now."
)


def out_of_money(cap: Decimal) -> str:
    """Return the sentence for a person whose budget of the day is spent."""
    return gettext(
        "I stopped here: the ${cap} that I may spend on you in a day is used up. I can go on tomorrow.",
        cap=f"{cap:.2f}",
    )


def out_of_task_money(cap: Decimal) -> str:
    """Return the sentence for a task whose budget of the day is spent."""
    return gettext(
        "I stopped here: the ${cap} that this task may spend in a day is used up. It can go on tomorrow.",
        cap=f"{cap:.2f}",
    )


def stopped(message: str) -> str:
    """Return the sentence for a stopped turn, with the message that stopped it."""
    return gettext("Stopped: {message}", message=message) if message else gettext(INTERRUPTED)


def refused(words: str) -> str:
    """Return the sentence for a model that refused in these words, or for an answer that was withheld."""
    if not words.strip():
        return gettext(MODEL_WITHHELD)
    return gettext("My language model refused to answer this: {words}", words=words.strip())


def too_long(channel: str | None) -> str:
    """Return the sentence for a conversation that no longer fits, with the word that starts a new conversation here."""
    words = {"sms": "NEW", "email": "NEW", "slack": "/valet new"}
    word = "/new" if channel is None else words.get(channel, "/new")
    return gettext("This conversation has grown too long for me. Send {word} to start a fresh one.", word=word)


def too_many_calls(most: int) -> str:
    """Return the text for the model after more calls in an answer than are run."""
    return "Not run: too many calls in one answer." + note(
        f"Make at most {most} in one; make this one, and those after it, again in your next answer."
    )
