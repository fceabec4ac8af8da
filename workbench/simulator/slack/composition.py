"""Block Kit's composition objects: reference/block-kit/composition-objects."""

from collections.abc import Collection

from workbench.simulator.slack import limits
from workbench.simulator.slack.errors import Problems
from workbench.simulator.slack.shapes import Obj, obj

PLAIN: tuple[str, ...] = ("plain_text",)
ANY_TEXT: tuple[str, ...] = ("plain_text", "mrkdwn")


def check_text(
    problems: Problems,
    owner: Obj,
    key: str,
    at: str,
    most: int,
    *,
    kinds: Collection[str] = PLAIN,
    needed: bool = False,
) -> None:
    """Check a text object field (composition-objects/text-object): kind, presence, 1 to `most` characters."""
    if key not in owner:
        if needed:
            problems.add(f"missing required field: {key}", at)
        return
    check_text_object(problems, owner[key], f"{at}/{key}", most, kinds)


def check_text_object(problems: Problems, value: object, at: str, most: int, kinds: Collection[str]) -> None:
    if not isinstance(value, dict):
        problems.add("must provide an object", at)
        return
    if not problems.among(value.get("type"), kinds, f"{at}/type"):
        return
    problems.string(value, "text", at, min(most, limits.TEXT_OBJECT), least=1, needed=True)
    if value["type"] == "plain_text":
        problems.only(value, ("type", "text", "emoji"), at)
        problems.boolean(value, "emoji", at)
    else:
        problems.only(value, ("type", "text", "verbatim"), at)
        problems.boolean(value, "verbatim", at)


def check_style(problems: Problems, owner: Obj, at: str) -> None:
    """Check an optional style: primary or danger; the default has no name."""
    if "style" in owner:
        problems.among(owner["style"], ("primary", "danger"), f"{at}/style")


def check_options(problems: Problems, owner: Obj, at: str, most: int) -> None:
    """Check `options` (composition-objects/option-object)."""
    for index, option in enumerate(problems.listed(owner, "options", at, most)):
        where, item = f"{at}/options/{index}", obj(option)
        problems.only(item, ("text", "value", "description"), where)
        check_text(problems, item, "text", where, limits.OPTION_TEXT, needed=True)
        problems.string(item, "value", where, limits.OPTION_VALUE, least=1, needed=True)
        check_text(problems, item, "description", where, limits.OPTION_TEXT)
