"""What is wrong with a changed value is said in the person's language, without pydantic's own words."""

from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, Field, HttpUrl, ValidationError
from pydantic_core import InitErrorDetails

from core.agents.fields import InputField, InvalidValue
from core.approvals.value_errors import value_errors
from core.language.catalogue import speaking
from tests.core.language.english import OTHERS, english_in


class Colour(Enum):
    """Colours, one of them with an apostrophe."""

    RED = "red"
    ODD = "it's"


class Everything(BaseModel):
    """A field for each way in which pydantic may refuse a value that a form or a model gave."""

    choice: Literal["high", "it's", 'a "b"', "a, b or c", 3]
    colour: Colour
    number: int
    fraction: float
    exact: Decimal
    truth: bool
    text: str
    short: Annotated[str, Field(max_length=2)]
    long: Annotated[str, Field(min_length=2)]
    shaped: Annotated[str, Field(pattern="^x$")]
    day: date
    moment: datetime
    hour: time
    span: timedelta
    few: Annotated[list[int], Field(max_length=1)]
    many: Annotated[list[int], Field(min_length=2)]
    entries: list[int]
    least: Annotated[int, Field(ge=3)]
    most: Annotated[int, Field(le=3)]
    above: Annotated[int, Field(gt=3)]
    below: Annotated[int, Field(lt=3)]
    fold: Annotated[int, Field(multiple_of=3)]
    named: dict[str, int]
    page: HttpUrl
    left_out: str


WRONG = {
    "choice": "z", "colour": "z", "number": "z", "fraction": "z", "exact": "z", "truth": "z", "text": 5, "short": "zzz",
    "long": "z", "shaped": "z", "day": "z", "moment": "z", "hour": "z", "span": "z", "few": [1, 2], "many": [1],
    "entries": "z", "least": 2, "most": 4, "above": 3, "below": 3, "fold": 4, "named": {"z": "z"}, "page": "z",
}  # fmt: skip


def refused() -> ValidationError:
    """Return pydantic's errors about one wrong value for each field."""
    with pytest.raises(ValidationError) as error:
        Everything.model_validate(WRONG)
    return error.value


def test_each_kind_of_error_is_said_in_words_of_ours() -> None:
    said = dict(part.split(": ", 1) for part in value_errors(refused()).split("; "))
    assert said["choice"] == 'it must be one of: high, it\'s, a "b", a, b or c or 3'
    assert said["colour"] == "it must be one of: red or it's"
    assert (said["short"], said["long"]) == (
        "it must have at most 2 characters",
        "it must have at least 2 characters",
    )
    assert (said["few"], said["many"]) == ("it must have at most 1 entry", "it must have at least 2 entries")
    assert (said["hour"], said["shaped"]) == ("it must be a time such as 15:00", "it is not valid")
    assert said["exact"] == "it must be a number"
    assert said["left out"] == "it is missing"
    assert len(said) == len(Everything.model_fields)


@pytest.mark.parametrize("language", OTHERS)
def test_no_word_of_pydantic_or_of_english_reaches_the_person(language: str) -> None:
    error = refused()
    with speaking(language):
        reasons = [value_errors(ValidationError.from_exception_data("x", [one])) for one in _lines(error)]
    for reason, item in zip(reasons, error.errors(), strict=True):
        assert english_in(reason, language) == []
        assert item["msg"] not in reason


def _lines(error: ValidationError) -> list[InitErrorDetails]:
    return [
        InitErrorDetails(type=item["type"], loc=(), input=item["input"], ctx=item.get("ctx", {}))
        for item in error.errors()
    ]


@pytest.mark.parametrize("language", OTHERS)
def test_a_field_of_an_agent_says_so_too(language: str) -> None:
    """Also where neither its author nor its type says which values are valid."""
    field = InputField("How much?", type=Annotated[str, Field(max_length=2)])
    with speaking(language), pytest.raises(InvalidValue) as wrong:
        field.check("zzz")
    assert english_in(str(wrong.value), language) == []
    assert "String should" not in str(wrong.value)
