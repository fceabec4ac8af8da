"""A model in a process of its own, which answers at once: plainly, after two tools, or as one that reads a talk.

`python -m workbench.benchmarks.whole.model` prints its address and serves.
"""

import asyncio
import json
import sys

from tests.scripted_model import ModelCall, Reply, ScriptedModel, calls, text

SUM = "add"
"""The beginning of a message that uses tools."""
TELLING = 5
"""One of so many plain messages is something to remember."""
FACTS = ("I live in Bonn with my sister Anna now. My friend is", "My dog is called Rex. His number is")
"""The beginnings of what each person tells first."""
_READS = "You read what a person and their assistant said"
_ANSWER = "Here is what I can say about that, as briefly as a text allows: it is done, and nothing else is open."
_KEPT = 1000
"""Calls that are remembered."""


def plain(number: int, mark: object = "") -> str:
    """Return what people write in turn, with a mark of its own."""
    if number % TELLING == TELLING - 1:
        return f"I water the plants in Bonn on day {mark}".strip() + "."
    return f"What shall I know about the plants in Bonn today {mark}".strip() + "?"


def answer(call: ModelCall) -> Reply:
    """Answer a call of a turn, or of the work behind the reply."""
    if reading := read(call):
        return reading
    if call.messages[-1]["role"] != "tool" and any(said.startswith(SUM) for said in call.new_user_texts):
        return calls(("calculate", {"expression": "1 + 2"}), ("current_time", {}))
    return text(_ANSWER)


def read(call: ModelCall) -> Reply | None:
    """Name the subject of each statement of a talk, and change nothing; return None if the call reads no talk."""
    if not call.system.startswith(_READS):
        return None
    material = json.loads(call.last_user.removeprefix("<material>\n").removesuffix("\n</material>"))
    statements = [
        {
            "number": statement["number"],
            "entities": [{"name": statement["text"][:20], "type": ["thing"]}],
            "actions": [],
            "topics": [],
            "replaces": [],
            "repeats": 0,
        }
        for statement in material.get("statements", [])
    ]
    return text(json.dumps({"statements": statements, "changes": []}))


async def main() -> None:
    """Serve until the process ends."""
    async with ScriptedModel(answer) as model:
        sys.stdout.write(f"{model.url}\n")
        sys.stdout.flush()
        while True:
            await asyncio.sleep(1)
            if len(model.calls) > _KEPT:
                model.calls.clear()


if __name__ == "__main__":
    asyncio.run(main())
