from onevalet.testing import MemoryAnswers, make_context, rehearse
from trattoria.booking import BookTableAgent
from trattoria.pizza import order_pizza


async def test_a_table_has_its_fields() -> None:
    assert rehearse(BookTableAgent, place="outside", guests=3).question == "Which cake?"
    assert "place" in rehearse(BookTableAgent, place="on the roof").question


async def test_a_pizza_is_asked_for() -> None:
    context = make_context(ask=MemoryAnswers(["Funghi", None]))
    assert await order_pizza("Elm Street 1", context) == "Ordered Funghi, sauce: as usual."
    assert [question.text for question in context.ask.asked] == ["Which pizza?", "Extra sauce?"]
