"""Forms as Slack's modals: within all limits, nothing changed by being shown."""

import html
from typing import Any, cast

from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from channels.slack.modals import TOO_LONG, form_view
from core.messaging.messages import Form, FormField, FormFieldKind
from tests.examples import examples
from workbench.simulator.slack.blocks import Surface
from workbench.simulator.slack.view_rules import check_view


def view(form: Form) -> dict[str, Any]:
    """Make a modal, and let the strict server read it."""
    made = form_view(form)
    check_view(made, Surface.MODAL)
    return cast(dict[str, Any], made)


def shown(made: dict[str, Any]) -> list[str]:
    return [html.unescape(block["text"]["text"]) for block in made["blocks"] if block["type"] == "section"]


def test_a_form_without_fields_only_shows_its_text_literally() -> None:
    made = view(Form("tok", "Details of 7K", "*To* <@U1> & `x`\n# no heading"))
    assert "submit" not in made
    assert shown(made) == ["*To* <@U1> & `x`\n# no heading"]
    assert {block["text"]["type"] for block in made["blocks"]} == {"plain_text"}


def test_a_long_text_is_cut_at_lines_into_sections() -> None:
    lines = [f"{number} " + "<&>" * 40 for number in range(60)]
    made = view(Form("tok", "Details", "\n".join(lines)))
    assert len(made["blocks"]) > 2
    assert "\n".join(shown(made)) == "\n".join(lines)


def test_what_an_input_cannot_hold_whole_is_not_offered() -> None:
    made = view(Form("tok", "t" * 40, "", (FormField("body", "Body", "x" * 3001), FormField("to", "To", "y" * 3000))))
    assert shown(made) == [f"Body\n{TOO_LONG}"]
    assert [block["block_id"] for block in made["blocks"] if block["type"] == "input"] == ["to"]
    assert len(made["title"]["text"]) == 24


def test_options_that_no_menu_takes_are_typed() -> None:
    options = tuple(f"option {number}" for number in range(101))
    (block,) = view(Form("tok", "Pick", "", (FormField("one", "One", "", FormFieldKind.CHOICE, options),)))["blocks"]
    assert block["element"]["type"] == "plain_text_input"
    assert "option 7" in block["hint"]["text"]


_fields = st.builds(
    FormField,
    st.text("abcdefgh_", min_size=1, max_size=20),
    st.text(max_size=60),
    st.text(max_size=60) | st.just("&" * 3001),
    st.sampled_from(FormFieldKind),
    st.lists(st.text(max_size=160), max_size=6).map(tuple),
    st.booleans(),
)


@examples(40, suppress_health_check=list(HealthCheck))
@given(
    st.text(max_size=40),
    st.text(max_size=200) | st.text("a<&\n", max_size=50).map(lambda text: text * 150),
    st.lists(_fields, max_size=6, unique_by=lambda field: field.name).map(tuple),
)
def test_any_form_is_taken_by_the_strict_server(title: str, text: str, fields: tuple[FormField, ...]) -> None:
    view(Form("tok", title, text, fields))
