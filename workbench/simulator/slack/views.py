"""views.open, views.push, views.update, views.publish."""

import re
import secrets

from workbench.simulator.journal import Json
from workbench.simulator.slack import limits
from workbench.simulator.slack.blocks import Surface
from workbench.simulator.slack.errors import Refusal
from workbench.simulator.slack.method import Hub, Method
from workbench.simulator.slack.records import view_record, with_ids
from workbench.simulator.slack.shapes import Obj, items, text
from workbench.simulator.slack.state import Trigger, View, World, make_id
from workbench.simulator.slack.view_rules import check_view


def open_view(hub: Hub, arguments: Obj) -> Obj:
    trigger = _trigger(hub.world, arguments)
    body = _body(hub.world, arguments, Surface.MODAL)
    trigger.used = True
    view = place(hub.world, trigger.user, body)
    return {"ok": True, "view": view_record(hub.world, view)}


def push_view(hub: Hub, arguments: Obj) -> Obj:
    """Put a modal on top of the modal that the trigger came from (methods/views.push)."""
    trigger = _trigger(hub.world, arguments)
    stack = hub.world.stacks.get(trigger.user, [])
    # methods/views.push: the trigger must come from within the modal.
    if trigger.view not in stack:
        raise Refusal("not_found")
    if len(stack) >= limits.VIEW_STACK:
        raise Refusal("push_limit_reached")
    body = _body(hub.world, arguments, Surface.MODAL)
    trigger.used = True
    view = place(hub.world, trigger.user, body, on=stack)
    return {"ok": True, "view": view_record(hub.world, view)}


def update_view(hub: Hub, arguments: Obj) -> Obj:
    view = _find(hub.world, arguments)
    _check_hash(view, arguments)
    replace(view, _body(hub.world, arguments, Surface.MODAL, view))
    return {"ok": True, "view": view_record(hub.world, view)}


def publish_view(hub: Hub, arguments: Obj) -> Obj:
    user = text(arguments.get("user_id"))
    if hub.world.person(user) is None:
        raise Refusal("user_not_found")
    known = hub.world.homes.get(user)
    if known is not None:
        _check_hash(known, arguments)
    body = _body(hub.world, arguments, Surface.HOME, known)
    view = known or View(make_id("V"), user, {}, "")
    replace(view, body)
    hub.world.homes[user] = view
    return {"ok": True, "view": view_record(hub.world, view)}


def place(world: World, user: str, body: Obj, on: list[str] | None = None) -> View:
    """Show a modal: alone, or on top of a stack."""
    view = View(make_id("V"), user, {}, "")
    replace(view, body)
    if on:
        view.root, view.previous = on[0], on[-1]
        on.append(view.id)
    else:
        for old in world.stacks.get(user, []):
            del world.views[old]
        world.stacks[user] = [view.id]
    world.views[view.id] = view
    return view


def replace(view: View, body: Obj) -> None:
    """Replace a view's body; input in blocks that stay is kept, as Slack does."""
    view.body = {**body, "blocks": with_ids(items(body.get("blocks")))}
    view.hash = f"{secrets.randbelow(10**10)}.{secrets.token_hex(4)}"
    view.errors = {}
    kept = {text(block.get("block_id")) for block in items(view.body["blocks"]) if isinstance(block, dict)}
    view.values = {key: value for key, value in view.values.items() if key in kept}


METHODS = {
    "views.open": Method(open_view, (), ("view",)),
    "views.push": Method(push_view, (), ("view",)),
    "views.update": Method(update_view, (), ("view",)),
    "views.publish": Method(publish_view, (), ("user_id", "view")),
}


def _body(world: World, arguments: Obj, surface: Surface, known: View | None = None) -> Obj:
    body = check_view(arguments.get("view"), surface)
    external = text(body.get("external_id"))
    others: list[View] = [*world.views.values(), *world.homes.values()]
    # methods/views.open, error duplicate_external_id: unique for all views of a team.
    if external and any(other is not known and other.body.get("external_id") == external for other in others):
        raise Refusal("duplicate_external_id")
    return body


def _trigger(world: World, arguments: Obj) -> Trigger:
    value = text(arguments.get("trigger_id"))
    if not value:
        raise Refusal("invalid_arguments", ["missing required field: trigger_id [json-pointer:/]"])
    trigger = world.triggers.get(value)
    # methods/views.open, errors invalid_, exchanged_ and expired_trigger_id.
    if trigger is None or not re.fullmatch(r"\d+\.\d+\.[0-9a-f]+", value):
        raise Refusal("invalid_trigger_id")
    if trigger.used:
        raise Refusal("exchanged_trigger_id")
    if world.now() - trigger.at > limits.TRIGGER_SECONDS:
        raise Refusal("expired_trigger_id")
    return trigger


def _find(world: World, arguments: Obj) -> View:
    name, external = text(arguments.get("view_id")), text(arguments.get("external_id"))
    if not name and not external:
        raise Refusal("invalid_arguments", ["missing required field: view_id [json-pointer:/]"])
    for view in world.views.values():
        if view.id == name or (external and view.body.get("external_id") == external):
            return view
    raise Refusal("not_found")


def _check_hash(view: View, arguments: Obj) -> None:
    # methods/views.update, error hash_conflict.
    given: Json = arguments.get("hash")
    if given not in (None, "", view.hash):
        raise Refusal("hash_conflict")
