"""How the SQL functions are written: a long one can be read by its steps."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[3]
LONG = 60
"""Lines of a function above which its steps are numbered."""
_FUNCTION = re.compile(r"^create (?:or replace )?function (\w+)\(.*?^(?:end )?\$\$;$", re.MULTILINE | re.DOTALL)
_WORD = re.compile(r"\w+")
BY_HAND = {"set_partition"}
"""What the owner of a database calls: docs/architecture.md, partitions."""
_CREATED = re.compile(r"^create (?:or replace )?function (\w+)\(", re.MULTILINE)
_COMMENT = re.compile(r"--[^\n]*")
_DEAR_CAST = re.compile(r"\bp_\w+::(?:vector|tsquery|tsvector)\b")
_STEP = re.compile(r"^ +-- (\d+)\. \S", re.MULTILINE)


def unnumbered(sql: str) -> Iterator[str]:
    """Yield the names of the long functions whose steps are not numbered from 1."""
    for found in _FUNCTION.finditer(sql):
        steps = [int(number) for number in _STEP.findall(found[0])]
        if found[0].count("\n") > LONG and (len(steps) < 3 or steps != list(range(1, len(steps) + 1))):
            yield found[1]


def test_every_function_is_called() -> None:
    product = [ROOT / name for name in ("core", "abilities", "channels", "jobs", "notify", "operations", "onevalet")]
    texts = [
        path.read_text(encoding="utf-8")
        for folder in product
        for kind in ("py", "sql")
        for path in folder.rglob(f"*.{kind}")
    ]
    named = Counter(word for text in texts for word in _WORD.findall(_COMMENT.sub("", text)))
    made = Counter(name for text in texts for name in _CREATED.findall(text))
    assert len(made) > 300
    # Its name stands somewhere besides its definition; forms with other parameters share a name.
    assert {name for name, forms in made.items() if named[name] <= forms} == BY_HAND


def test_every_long_function_numbers_its_steps() -> None:
    files = [*ROOT.glob("core/db/sql/functions/*.sql"), *ROOT.glob("abilities/*/sql/functions/*.sql")]
    assert len(files) > 30
    assert [f"{file.name}: {name}" for file in files for name in unnumbered(file.read_text(encoding="utf-8"))] == []


def test_no_statement_reads_the_text_of_a_vector_again_for_each_row() -> None:
    files = [*ROOT.glob("core/db/sql/functions/*.sql"), *ROOT.glob("abilities/*/sql/functions/*.sql")]
    # A generic plan evaluates the cast of a parameter for each row: a variable takes it once (`v_it vector := p_it`).
    assert {file.name: cast for file in files for cast in _DEAR_CAST.findall(file.read_text(encoding="utf-8"))} == {}
    assert _DEAR_CAST.findall("order by embedding <#> p_near::vector") == ["p_near::vector"]


def test_steps_that_are_missing_or_out_of_order_are_found() -> None:
    long = "    perform 1;\n" * LONG

    def function(name: str, steps: str) -> str:
        return f"create function {name}(p int)\nreturns void\nlanguage plpgsql as $$\nbegin\n{steps}{long}end $$;\n"

    first, second, third = "    -- 1. Lock.\n", "    -- 2. Look.\n", "    -- 3. Write.\n"
    whole = function("numbered", first + second + third)
    assert list(unnumbered(whole + function("plain", "") + function("mixed", first + third + second))) == [
        "plain", "mixed",
    ]  # fmt: skip
