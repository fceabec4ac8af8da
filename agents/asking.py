"""Ask the person, with choices: for facts that the model cannot know, and would otherwise guess."""

from dataclasses import dataclass

from onevalet import Question, ToolExecutionContext, ToolRetry, gettext_noop, tool

_MAX_QUESTIONS, _MAX_CHOICES = 4, 8


@dataclass(frozen=True, slots=True)
class _Choosing:  # without a docstring, which each prompt would pay for
    text: str
    choices: list[str]
    free: bool = False
    skip: bool = False


@tool(name="ask_person", effect="read", parallel=False, group="", doing=gettext_noop("Asking you…"))
async def ask_person(questions: list[_Choosing], context: ToolExecutionContext) -> str:
    """Ask the person 1 to 4 questions with 2 to 8 short choices each, and wait. For one open question, just write it.

    Args:
        questions: `free`: own words count too. `skip`: may be left out.
    """
    if not 0 < len(questions) <= _MAX_QUESTIONS or not all(2 <= len(one.choices) <= _MAX_CHOICES for one in questions):
        raise ToolRetry(f"Ask 1 to {_MAX_QUESTIONS} questions with 2 to {_MAX_CHOICES} choices each.")
    try:
        asked = [Question(one.text, one.choices, one.free, one.skip) for one in questions]
    except ValueError as error:
        raise ToolRetry(str(error)) from error
    answers = await context.ask(*asked)
    told = [f"{one.text} {answer or '(skipped)'}" for one, answer in zip(asked, answers, strict=True)]
    return "\n".join(told)
