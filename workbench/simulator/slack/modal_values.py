"""A person's input in a modal, checked as Slack's client checks it before sending."""

from workbench.simulator.base import BadAction
from workbench.simulator.journal import Json
from workbench.simulator.slack.shapes import Obj, items, obj, text


def read_values(blocks: list[Json], entered: Obj, before: Obj) -> Obj:
    """Return the input as `state.values` (reference/interaction-payloads/view-interactions-payload).

    `entered` maps action_ids or block_ids to strings. Raises BadAction if Slack's client would not send the modal:
    an empty required field, a bad length or option.
    """
    values: Obj = {}
    left = set(entered)
    for block in (obj(item) for item in blocks):
        if block.get("type") != "input":
            continue
        element, block_id = obj(block.get("element")), text(block.get("block_id"))
        action_id = text(element.get("action_id"))
        left -= {action_id, block_id}
        known = obj(obj(before.get(block_id)).get(action_id))
        given = entered.get(action_id, entered.get(block_id))
        value = _value(element, given) if given is not None else known or _initial(element)
        if block.get("optional") is not True and all(
            item in (None, "") for key, item in value.items() if key != "type"
        ):
            raise BadAction(f'"{text(obj(block.get("label")).get("text"))}" is a required field.')
        values[block_id] = {action_id: value}
    if left:
        raise BadAction(f"The modal has no field {', '.join(sorted(left))}.")
    return values


def _value(element: Obj, given: Json) -> Obj:
    kind = text(element.get("type"))
    if kind == "static_select":
        return {"type": kind, "selected_option": _option(element, text(given))}
    value = text(given)
    least, most = element.get("min_length"), element.get("max_length")
    if isinstance(least, int) and value and len(value) < least:
        raise BadAction(f"At least {least} characters are needed.")
    if len(value) > (most if isinstance(most, int) else 3_000):
        raise BadAction("That is too long.")
    return {"type": kind, "value": value or None}


def _initial(element: Obj) -> Obj:
    kind = text(element.get("type"))
    if kind == "static_select":
        return {"type": kind, "selected_option": element.get("initial_option")}
    return {"type": kind, "value": element.get("initial_value")}


def _option(element: Obj, chosen: str) -> Json:
    for option in items(element.get("options")):
        if obj(option).get("value") == chosen:
            return option
    raise BadAction(f'There is no option "{chosen}".')
