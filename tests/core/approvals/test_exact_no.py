"""A no is read without a model in each language: it ends things, and never runs one."""

import pytest

from core.approvals.exact_replies import ALL, ExactReply, Verb, parse_exact_reply


@pytest.mark.parametrize(
    "said",
    ["NO ALL", "NEIN ALLE", "nein, zu allen!", "Non à tous.", "non tout", "No a todo", "Não a tudo", "全部取消。"],
)
def test_no_to_all_is_said_in_each_language(said: str) -> None:
    assert parse_exact_reply(said) == ExactReply(Verb.CANCEL, ALL)


@pytest.mark.parametrize("said", ["NEIN 2V", "non 2v", "Não 2V.", "nao 2V", "NO 2V"])
def test_no_to_a_code_is_said_in_each_language(said: str) -> None:
    assert parse_exact_reply(said) == ExactReply(Verb.CANCEL, "2V")


@pytest.mark.parametrize(
    "said",
    ["nein", "não", "nein den", "no todos", "no todo", "nein nicht alle", "OK ALLE", "ok todo", "nein 2V 3K nein"],
)
def test_what_may_mean_something_else_is_for_the_model(said: str) -> None:
    assert parse_exact_reply(said) is None
