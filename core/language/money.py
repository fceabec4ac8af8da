"""The operator's currency, in which people read prices; amounts are kept in dollars."""

from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from core.language.catalogue import gettext
from core.language.times import amount_in_words


@dataclass(frozen=True, slots=True)
class Currency:
    """A currency by its ISO 4217 code, and its price in units for a dollar."""

    code: str = "USD"
    per_dollar: Decimal = Decimal(1)

    @classmethod
    def read(cls, text: str) -> "Currency":
        """Read `EUR=0.92`, or `USD`. Raises `ValueError`."""
        from babel.numbers import list_currencies

        code, _, rate = text.partition("=")
        try:
            per_dollar = Decimal(rate) if code != "USD" or rate else Decimal(1)
        except InvalidOperation:
            per_dollar = Decimal(0)
        if code not in list_currencies() or not per_dollar.is_finite() or per_dollar <= 0:
            raise ValueError(f"{text!r} is no currency: give its code and its units for a dollar, such as EUR=0.92")
        return cls(code, per_dollar)

    def to_dollars(self, amount: Decimal | None) -> Decimal | None:
        """Return an amount of this currency in dollars; None for none."""
        return None if amount is None else amount / self.per_dollar

    def said(self, dollars: Decimal) -> str:
        """Return an amount of dollars in this currency, in the language that is spoken."""
        from babel.numbers import get_currency_precision

        amount, least = dollars * self.per_dollar, Decimal(1).scaleb(-get_currency_precision(self.code))
        if 0 < amount < least:
            return gettext("less than {amount}", amount=amount_in_words(least, self.code))
        return amount_in_words(amount, self.code)
