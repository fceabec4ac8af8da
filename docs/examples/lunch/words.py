from datetime import datetime
from decimal import Decimal
from zoneinfo import ZoneInfo

from onevalet import (
    amount_in_words,
    day_in_words,
    day_of_year_in_words,
    gettext,
    gettext_noop,
    moment_in_words,
    ngettext,
    ngettext_noop,
    number_in_words,
    time_in_words,
    weekday_in_words,
    with_note,
)

CLOSED = gettext_noop("The canteen is closed.")  # collected here, translated where it is said
LEFT = ngettext_noop("{number} lunch is left", "{number} lunches are left")


def receipt(at: datetime, zone: ZoneInfo) -> str:
    """Write down what a lunch was, in the language that is spoken."""
    lines = [
        moment_in_words(at, zone),
        f"{day_in_words(at)}, {time_in_words(at)}, {weekday_in_words(at.weekday())}",
        f"{day_of_year_in_words(at.month, at.day)}: {amount_in_words(Decimal('6.50'), 'EUR')}",
        f"{number_in_words(1234.5)}; {ngettext(*LEFT, 2)}",
        gettext(CLOSED),
    ]
    return with_note("\n".join(lines), "Only the model reads this.")
