"""The sentences about a halt. The SQL function `say_of_halt` has the same ones, since it says them as it commits."""

from core.language.catalogue import gettext_noop

SENTENCES = {
    "halted": gettext_noop(
        "All work is stopped, for everybody: no answer, task or message goes out, and incoming messages are kept. "
        "To let it go on, send LIFT {code}."
    ),
    "lifted": gettext_noop("Work goes on. Everything that waited is done now."),
    "wrong": gettext_noop("That is not the code: all work stays stopped."),
    "limited": gettext_noop(
        "Too many wrong codes: all work stays stopped. Try again in an hour, or lift it on the server: onevalet lift."
    ),
    "told": gettext_noop("My operator has stopped me for now. I keep your messages, and answer them when I may go on."),
}
"""Each by its name in the SQL function."""
