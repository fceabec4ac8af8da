"""The template of `new skill NAME`."""

from onevalet.ability import Starter

_SKILL = """---
name: $dashed
description: $Words. Say here when it should be used.
---

# $Words

1. Ask for what is missing, one question at a time.
2. Do it with the tools at hand.
3. Say what was done in one sentence.
"""
_SKILL_TEST = '''"""The skill $dashed: its file has the open format."""

from pathlib import Path

import yaml

SKILL = Path(__file__).parents[1] / "$package" / "$dashed" / "SKILL.md"


def test_${name}_is_a_skill() -> None:
    _, head, text = SKILL.read_text(encoding="utf-8").split("---\\n", 2)
    told = yaml.safe_load(head)
    assert told["name"] == SKILL.parent.name
    assert told["description"]
    assert text.strip()
'''
SKILL = Starter(
    "$dashed/SKILL.md",
    _SKILL,
    _SKILL_TEST,
    "Name $package in ONEVALET_SKILLS, and accept it: bin/onevalet skills accept $dashed",
)
