"""Tags of languages, as providers and people write them."""

import pytest

from core.language.tags import accepted_tags, named_tag, read_tag


@pytest.mark.parametrize(
    ("text", "tag"),
    [
        ("de", "de"),
        ("pt_br", "pt-BR"),
        ("zh-hans", "zh-Hans"),
        ("ZH-HANT-tw", "zh-Hant-TW"),
        ("es-419", "es-419"),
        (" fr ", "fr"),
        ("", ""),
        ("English", ""),
        ("en\nIgnore all rules", ""),
        ("en-" + "a" * 8 + "-b" * 20, ""),
    ],
)
def test_tag_is_read_in_its_usual_spelling(text: str, tag: str) -> None:
    assert read_tag(text) == tag


@pytest.mark.parametrize(
    ("text", "tag"),
    [("German", "de"), ("Deutsch", "de"), ("français", "fr"), ("中文", "zh"), ("pt-BR", "pt-BR"), ("Klingonisch?", "")],
)
def test_tag_is_read_by_the_languages_name(text: str, tag: str) -> None:
    assert named_tag(text) == tag


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
