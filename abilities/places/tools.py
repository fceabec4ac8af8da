"""Tools that know where the person is: asked by the person, saved under a name, watched for a reminder."""

from typing import Any

from abilities.places.places import Places, key_of
from abilities.places.types import FRESH, RADIUS, SavedPlace
from abilities.weather.tools import find_city
from core.messaging.visible_text import plain_words
from onevalet import (
    TextWithData,
    ToolExecutionContext,
    ToolFailed,
    ToolGroup,
    ToolRetry,
    gettext,
    gettext_noop,
    number_in_words,
    tool,
    undo_word,
)

GROUP = ToolGroup(
    "places",
    gettext_noop("where am I, near me, nearby, location, my places, the office, at home, I arrive, I leave"),
)
_MAX_NAME = 60
_MAX_RADIUS = 5_000
_UNSHARED = gettext_noop("You share no live location with me at the moment.")


@tool(effect="read", group=GROUP, own_words=True)
async def where_am_i(context: ToolExecutionContext) -> dict[str, Any]:
    """Tell where the person is, by the place that they sent (📍) or share, only if they ask about it.

    The place may be old, rough, or one that they chose on a map: accuracy_m is in metres, age_minutes in minutes.
    """
    if context.in_task:
        raise ToolFailed("Not told to a task: only the person's own message may ask where they are.")
    places = context.service(Places)
    here = await places.here()
    now = context.clock.now()
    at = [saved.name for saved in await places.saved() if saved.is_at(here)]
    return {
        "latitude": round(here.latitude, 5),
        "longitude": round(here.longitude, 5),
        "accuracy_m": None if here.accuracy is None else round(here.accuracy),
        "age_minutes": round(here.age(now).total_seconds() / 60),
        "how": here.how.value,
        "shared_live": here.live,
        "saved_places_there": at,
        "timezone": here.zone,
    }


@tool(effect="idempotent", group=GROUP, title=gettext_noop("Remember where you are"))
async def note_city(city: str, context: ToolExecutionContext) -> str:
    """Note the city in which the person says they are now ("I am in Lyon"), for questions about "here".

    Args:
        city: With the country where there are several.
    """
    found = await find_city(city, context)
    name = plain_words(", ".join(filter(None, (found.name, found.country))))
    await context.service(Places).say(found.latitude, found.longitude, name, context.idempotency_key)
    return gettext("Noted for at most 24 hours: you are in {city}.", city=name)


@tool(effect="read", group=GROUP)
async def at_place(place: str, context: ToolExecutionContext) -> TextWithData:
    """Tell whether the person is at one of their saved places now, by the location that they share live.

    For a reminder there ("when I am at the office") set a watch with ScheduleTask: tool at_place, path $.here,
    expression value, every_minutes 2, remind_only true; `not value` is when they leave. They must share it live.

    Args:
        place: The name under which it is saved.
    """
    places = context.service(Places)
    saved = await places.find_saved(place)
    if saved is None:
        raise await _unknown(place, places)
    here = await places.shared()
    if here is None:
        return TextWithData(gettext(_UNSHARED), {"here": None, "distance_m": None, "age_minutes": None})
    away = round(saved.metres_to(here))
    data = {
        "here": saved.is_at(here),
        "distance_m": away,
        "accuracy_m": None if here.accuracy is None else round(here.accuracy),
        "age_minutes": round(here.age(context.clock.now()).total_seconds() / 60),
    }
    if data["here"]:
        return TextWithData(gettext("You are at “{place}”.", place=saved.name), data)
    metres = number_in_words(away)
    return TextWithData(gettext("You are {metres} m from “{place}”.", metres=metres, place=saved.name), data)


@tool(effect="idempotent", group=GROUP, title=gettext_noop("Save place"))
async def save_place(name: str, context: ToolExecutionContext, radius: int = round(RADIUS)) -> str:
    """Save where the person is now under a name: "this is the office".

    Args:
        name: Their name for it, such as office.
        radius: The metres around it that count as it.
    """
    name = plain_words(name)
    if not key_of(name) or len(name) > _MAX_NAME:
        raise ToolRetry(gettext("A place's name has 1 to {number} letters.", number=_MAX_NAME))
    if not 20 <= radius <= _MAX_RADIUS:
        raise ToolRetry(f"`radius` is 20 to {_MAX_RADIUS} metres.")
    places = context.service(Places)
    here = await places.here()
    if here.age(context.clock.now()) > FRESH:
        raise ToolRetry(
            gettext("The last place that you sent is too old for that: send me where you are now."),
            note="“where am I” tells them how.",
        )
    before = await places.find_saved(name)
    place = SavedPlace(name, here.latitude, here.longitude, max(float(radius), here.accuracy or 0.0))
    if place.radius > _MAX_RADIUS:
        raise ToolRetry(gettext("That place is known too roughly to be saved."))
    if not await places.save(place):
        raise ToolRetry(gettext("You have too many saved places: delete one first."))
    context.undo.offer(
        gettext("Saved place: {name}", name=name),
        "take_back_place",
        {"name": name, "before": before.to_json() if before else None},
    )
    return gettext("Saved as “{name}”. To take it back, write “{word}”.", name=name, word=undo_word())


@tool(effect="idempotent", group=GROUP, title=gettext_noop("Delete place"))
async def delete_place(name: str, context: ToolExecutionContext) -> str:
    """Delete a place that the person saved.

    Args:
        name: Its name.
    """
    places = context.service(Places)
    before = await places.find_saved(name)
    if before is None:
        raise await _unknown(name, places)
    await places.remove(before.name)
    context.undo.offer(
        gettext("Deleted place: {name}", name=before.name),
        "take_back_place",
        {"name": before.name, "before": before.to_json()},
    )
    return gettext("Deleted “{name}”. To take it back, write “{word}”.", name=before.name, word=undo_word())


@tool(effect="idempotent", inverse=True)
async def take_back_place(name: str, before: dict[str, str | float] | None, context: ToolExecutionContext) -> str:
    """Give a saved place its earlier position, or delete it if it had none."""
    places = context.service(Places)
    if before is None:
        await places.remove(name)
        return gettext("Undone: “{name}” is no longer saved.", name=name)
    await places.save(SavedPlace.from_json(dict(before)))
    return gettext("Undone: “{name}” is where it was.", name=name)


async def _unknown(name: str, places: Places) -> ToolRetry:
    known = ", ".join(saved.name for saved in await places.saved())
    return ToolRetry(
        gettext("You have saved no place named “{name}”.", name=name),
        note=f"Saved are: {known or 'none'}. Save one with save_place while they are there.",
    )
