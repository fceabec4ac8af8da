"""The terms that typeagent indexes a memory under: each needs a vector before the memory can be indexed."""

from core.json_types import Json, JsonObject


def terms_of(knowledge: JsonObject) -> list[str]:
    """Return the terms of a KnowledgeResponse as typeagent's index collects them: lower case, each once."""
    terms: list[str] = []
    for entity in _objects(knowledge.get("entities")):
        terms.append(str(entity["name"]))
        terms += [str(kind) for kind in _list(entity.get("type"))]
        for facet in _objects(entity.get("facets")):
            terms += _facet(facet)
    for action in [*_objects(knowledge.get("actions")), *_objects(knowledge.get("inverse_actions"))]:
        terms += _action(action)
    terms += [str(topic) for topic in _list(knowledge.get("topics"))]
    return list(dict.fromkeys(term for text in terms if (term := text.strip().lower())))


def _action(action: JsonObject) -> list[str]:
    terms = [" ".join(str(verb) for verb in _list(action.get("verbs")))]
    roles = ("subjectEntityName", "objectEntityName", "indirectObjectEntityName")
    terms += [name for role in roles if (name := str(action.get(role) or "none")) != "none"]
    for parameter in _list(action.get("params")):
        if isinstance(parameter, dict):
            terms.append(str(parameter["name"]))
            if isinstance(value := parameter.get("value"), str):
                terms.append(value)
        else:
            terms.append(str(parameter))
    facet = action.get("subjectEntityFacet")
    return [*terms, *(_facet(facet) if isinstance(facet, dict) else [])]


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
    return [item for item in _list(value) if isinstance(item, dict)]
