"""The language of a page, by its browser."""

import pytest

from channels.http.pages.languages import accepted_tags


@pytest.mark.parametrize(
    ("header", "tags"),
    [
        ("", []),
        ("de", ["de"]),
        ("it, fr-ca;q=0.8, en;q=0.5, de;q=0", ["it", "fr-CA", "en"]),
        ("en;q=0.1,pt-BR ; q=1.000 , es;q=0.35", ["pt-BR", "es", "en"]),
        ("*, de;q=2, fr;q=x, es;x=1, zh;q=0.1", ["zh"]),
        (";;,,=,\x00, de-" + "a" * 50 + "," * 900 + "fr", []),
    ],
)
def test_tags_of_a_header_come_in_the_order_of_their_weights(header: str, tags: list[str]) -> None:
    assert accepted_tags(header) == tags
