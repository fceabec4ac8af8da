"""`@tool`: schemas, checks, injection, and what is said to whoever wrote one wrongly."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import Annotated

import pytest
from pydantic import BaseModel, Field

from core.clock import Clock
from core.errors import ConfigError, ToolFailed, ToolRetry
from core.journal.types import Effect
from core.people.tenant import TurnTenant
from core.tools.context import ToolExecutionContext
from core.tools.tool import Tool, result_text, tool
from core.tools.toolbox import ToolRegistry
from core.turns.services import TurnServices
from tests.core.builders import a_context


@tool(name="book_table", description="Book a table.", effect="idempotent", parallel=False, timeout=5)
async def book_table(
    place: str,
    people: int,
    context: ToolExecutionContext,
    tags: list[str] | None = None,
    title: Annotated[str, "Whose name it is booked under"] = "",
    size: Annotated[int, Field(description="Of the table", gt=0)] = 1,
) -> str:
    """Ignored, since a description is given.

    Args:
        place: Where to book,
            and for how long.
        people (int): How many come.
    """
    return f"{place} {people} {tags} {title} {size} {context.tenant_id}"


class TestSchema:
    def test_comes_from_annotations_and_docstring_and_hides_the_context(self) -> None:
        schema = book_table.spec.parameters
        properties = schema["properties"]
        assert isinstance(properties, dict)
        assert list(properties) == ["place", "people", "tags", "title", "size"]
        assert properties["place"] == {"type": "string", "description": "Where to book, and for how long."}
        assert properties["people"] == {"type": "integer", "description": "How many come."}
        assert properties["title"] == {"type": "string", "description": "Whose name it is booked under"}
        assert properties["size"]["description"] == "Of the table"  # type: ignore[index,call-overload]
        assert schema["required"] == ["place", "people"]
        assert book_table.signature.schema["additionalProperties"] is False

    def test_the_model_is_shown_no_words_of_a_schema_that_tell_it_nothing(self) -> None:
        @tool
        def search(
            find: str | None, since: date | None = None, limit: int = 10, default: str = "", zero: int = 0
        ) -> str:
            """Search."""
            return ""

        assert search.spec.parameters == {
            "type": "object",
            "properties": {
                "find": {"anyOf": [{"type": "string"}, {"type": "null"}]},
                "since": {"type": "string", "format": "date"},
                "limit": {"type": "integer", "default": 10},
                "default": {"type": "string"},
                "zero": {"type": "integer", "default": 0},
            },
            "required": ["find"],
        }
        assert search.parse({"find": None, "since": None}) == {"find": None, "since": None}

    def test_a_tool_without_parameters_is_an_empty_object(self) -> None:
        @tool
        def ping() -> str:
            """Answer."""
            return "pong"

        assert ping.spec.parameters == {"type": "object", "properties": {}}
        assert ping.name == "ping"
        assert ping.description == "Answer."
        assert ping.effect is Effect.ONCE

    def test_takes_sphinx_style_parameters(self) -> None:
        @tool
        def look(query: str) -> str:
            """Look it up.

            :param query: what to look for
            :return: what was found
            """
            return query

        assert look.spec.parameters["properties"] == {"query": {"type": "string", "description": "what to look for"}}


class TestRunning:
    async def test_the_tool_still_calls_like_its_function(self) -> None:
        assert await book_table("Here", 2, a_context()) == "Here 2 None  1 tenant"

    async def test_arguments_are_checked_and_the_context_is_injected_by_type(self) -> None:
        arguments = book_table.parse({"place": "Here", "people": "3", "size": 4})
        assert arguments == {"place": "Here", "people": 3, "size": 4}
        assert await book_table.run(arguments, a_context()) == "Here 3 None  4 tenant"

    @pytest.mark.parametrize(
        ("arguments", "sentence"),
        [
            ({}, "place is missing; people is missing"),
            ({"place": "x", "people": "many"}, "people: Input should be a valid integer"),
            ({"place": "x", "people": 1, "context": {}}, "context is not a parameter"),
            ({"place": "x", "people": 1, "seats": 2}, "seats is not a parameter"),
            ({"place": "x", "people": 1, "size": 0}, "size: Input should be greater than 0"),
            ([], "Input should be"),
        ],
    )
    def test_wrong_arguments_are_answered_with_what_is_right(self, arguments: object, sentence: str) -> None:
        with pytest.raises(ToolRetry) as caught:
            book_table.parse(arguments)  # type: ignore[arg-type]
        assert sentence in str(caught.value)
        assert "It takes: place (required), people (required), tags, title, size." in str(caught.value)

    async def test_an_ordinary_function_runs_in_a_thread_and_says_so(self) -> None:
        @tool
        def where() -> str:
            """Tell the thread."""
            return threading.current_thread().name

        assert where.in_thread
        assert not book_table.in_thread
        assert await where.run({}, a_context()) == "tool-where"

    @pytest.mark.parametrize("error", [ToolFailed("no"), SystemExit(3), StopIteration()])
    async def test_what_a_thread_raises_arrives(self, error: BaseException) -> None:
        @tool
        def fail() -> str:
            """Fail."""
            raise error

        with pytest.raises(ToolFailed if isinstance(error, ToolFailed) else RuntimeError):
            await fail.run({}, a_context())

    async def test_preset_parameters_are_hidden_and_refused_from_the_model(self) -> None:
        fixed = book_table.with_preset(people=7)
        assert "people" not in fixed.spec.parameters["properties"]  # type: ignore[operator]
        with pytest.raises(ToolRetry, match="people is not a parameter"):
            fixed.parse({"place": "x", "people": 1})
        assert (await fixed.run(fixed.parse({"place": "x"}), a_context())).startswith("x 7")
        with pytest.raises(ConfigError, match="no parameter 'nothing'"):
            book_table.with_preset(nothing=1)

    @pytest.mark.parametrize(
        ("value", "text"),
        [("as it is", "as it is"), (None, "Done."), ({"a": [1]}, '{"a":[1]}'), (3, "3"), (True, "true")],
    )
    def test_results_become_text(self, value: object, text: str) -> None:
        assert result_text(value) == text

    def test_dataclasses_and_models_become_json(self) -> None:
        @dataclass
        class Flight:
            number: str

        class Hotel(BaseModel):
            name: str

        assert result_text([Flight("LH1")]) == '[{"number":"LH1"}]'
        assert result_text(Hotel(name="Adlon")) == '{"name":"Adlon"}'


def _no_docstring() -> None:
    @tool
    def bare(x: int) -> int:
        return x


def _no_annotation() -> None:
    @tool
    def loose(x) -> int:  # type: ignore[no-untyped-def]
        """Do it."""
        return int(x)


def _star() -> None:
    @tool
    def many(*things: str) -> str:
        """Do it."""
        return str(things)


def _odd_type() -> None:
    @tool
    def odd(lock: threading.Event) -> str:
        """Do it."""
        return str(lock)


def _bad_name() -> None:
    @tool(name="send mail")
    def named() -> str:
        """Do it."""
        return ""


def _bad_effect() -> None:
    @tool(effect="twice")  # type: ignore[call-overload,untyped-decorator,unused-ignore]
    def effected() -> str:
        """Do it."""
        return ""


class TestMistakesOfTheAuthor:
    @pytest.mark.parametrize(
        ("make", "sentence"),
        [
            (_no_docstring, "needs a docstring"),
            (_no_annotation, "write `x: str`"),
            (_star, "name each parameter"),
            (_odd_type, "a type that JSON cannot hold"),
            (_bad_name, "cannot name a tool"),
            (_bad_effect, 'write "read", "idempotent" or "once"'),
        ],
    )
    def test_fail_when_the_module_is_imported_with_file_line_and_what_to_type(
        self, make: Callable[[], None], sentence: str
    ) -> None:
        with pytest.raises(ConfigError) as caught:
            make()
        assert sentence in str(caught.value)
        assert str(caught.value).startswith(f"{__file__}:")


class TestRegistry:
    def test_two_tools_of_one_name_are_refused_with_both_places(self) -> None:
        def again() -> Tool[..., object]:
            @tool(name="book_table")
            def other() -> str:
                """Do it."""
                return ""

            return other

        with pytest.raises(ConfigError) as caught:
            ToolRegistry([book_table, again()])
        assert str(caught.value).count(__file__) == 2

    def test_the_same_tool_found_twice_is_one(self) -> None:
        assert len(ToolRegistry([book_table, book_table])) == 1

    def test_a_wrong_name_is_answered_with_the_likeliest(self) -> None:
        registry = ToolRegistry([book_table])
        assert registry.suggest("bok_table") == "Did you mean book_table?"
        assert registry.suggest("zzz") == "The tools are: book_table."
        with pytest.raises(ConfigError, match="Did you mean book_table"):
            registry.only(["book_tabel"])


async def test_without_a_way_out_tools_are_told_so() -> None:
    context = TurnServices().context_for(TurnTenant("tenant"), "turn", "sms", "look", "key")
    with pytest.raises(ToolFailed, match="nowhere to keep"):
        await context.credentials.get("tenant", "mail")
    with pytest.raises(ToolFailed, match="no access to the web"):
        await context.http.request("GET", "http://example.org")
    assert Clock().now().tzinfo is not None
