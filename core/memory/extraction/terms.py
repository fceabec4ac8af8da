"""The terms under which typeagent files a memory, read from its knowledge: each needs a vector before it is indexed."""

from core.json_types import Json, JsonObject


def terms_of(knowledge: JsonObject) -> list[str]:
    """Return the terms of a KnowledgeResponse as typeagent's index collects them: lower case, each once."""
    found: list[str] = []
    for entity in _objects(knowledge.get("entities")):
        found.append(str(entity["name"]))
        found += [str(kind) for kind in _list(entity.get("type"))]
        for facet in _objects(entity.get("facets")):
            found += _facet(facet)
    for action in [*_objects(knowledge.get("actions")), *_objects(knowledge.get("inverse_actions"))]:
        found += _action(action)
    found += [str(topic) for topic in _list(knowledge.get("topics"))]
    return list(dict.fromkeys(term for one in found if (term := one.strip().lower())))


def _action(action: JsonObject) -> list[str]:
    found = [" ".join(str(verb) for verb in _list(action.get("verbs")))]
    roles = ("subjectEntityName", "objectEntityName", "indirectObjectEntityName")
    found += [name for role in roles if (name := str(action.get(role) or "none")) != "none"]
    for parameter in _list(action.get("params")):
        if isinstance(parameter, dict):
            found.append(str(parameter["name"]))
            if isinstance(value := parameter.get("value"), str):
                found.append(value)
        else:
            found.append(str(parameter))
    facet = action.get("subjectEntityFacet")
    return [*found, *(_facet(facet) if isinstance(facet, dict) else [])]


def _facet(facet: JsonObject) -> list[str]:
    value = facet.get("value")
    if isinstance(value, dict):
        amount = value.get("amount")
        shown = f"{amount:g}" if isinstance(amount, int | float) else str(amount)
        return [str(facet["name"]), f"{shown} {value.get('units')}"]
    return [str(facet["name"]), *([] if value is None else [str(value)])]


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def _objects(value: Json) -> list[JsonObject]:
    return [one for one in _list(value) if isinstance(one, dict)]
