"""Questions with choices in the demo: the demo model asks them for people who want to see a question."""

from core.json_types import JsonObject
from core.language.catalogue import gettext, gettext_noop
from workbench.demo.intent import Found, Intent

ASKED = gettext_noop("Thank you. I heard:\n\n{result}")


def _tea(match: Found) -> JsonObject:
    milk: JsonObject = {"text": gettext("With milk?"), "choices": [gettext("yes"), gettext("no")], "skip": True}
    return {"questions": [{"text": gettext("Tea or coffee?"), "choices": [gettext("Tea"), gettext("Coffee")]}, milk]}


ASK = Intent(r"ask me (?:something|a question|two questions|questions)", "ask_person", _tea, phrase=ASKED)
