"""What follows "dass" is remembered as a sentence of its own, in the order of one."""

import pytest

from workbench.demo.clauses import main_clause


@pytest.mark.parametrize(
    ("clause", "said"),
    [
        ("ich Tee mag", "Ich mag Tee"),
        ("ich dienstags rudere", "Ich rudere dienstags"),
        ("ich keine Nüsse vertrage", "Ich vertrage keine Nüsse"),
        ("meine Schwester Ottilie heißt", "Meine Schwester heißt Ottilie"),
        ("ich nach Graz gezogen bin", "Ich bin nach Graz gezogen"),
        ("ich um sechs aufstehe", "Ich stehe um sechs auf"),
        ("wir montags immer einkaufen", "Wir kaufen montags immer ein"),
        ("ich in Wien arbeite", "Ich arbeite in Wien"),
        ("ich jedem Kunden antworte", "Ich antworte jedem Kunden"),
        ("ich Tee und Kaffee mag", "Ich mag Tee und Kaffee"),
        ("ich Tee mag und Kaffee hasse", "Ich mag Tee und hasse Kaffee"),
        ("ich Tee mag, aber keinen Kaffee trinke.", "Ich mag Tee, aber trinke keinen Kaffee"),
        ("Tee", "Tee"),
        ("der Schlüssel unter dem Topf liegt", "Der Schlüssel liegt unter dem Topf"),
    ],
)
def test_a_clause_after_dass_becomes_a_sentence(clause: str, said: str) -> None:
    assert main_clause(clause) == said
