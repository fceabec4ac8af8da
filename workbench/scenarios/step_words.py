"""A step of a scenario as a line for a person."""

from workbench.scenarios.steps import Step, as_texts


def words_of(step: Step) -> str:
    """Return a step as a line for a person."""
    match step.verb:
        case "expect":
            return " … ".join(step.texts)
        case "call" | "calls":
            return ", ".join(name for name, _ in step.calls)
        case "fill" | "location" | "move" | "contact":
            return ", ".join(f"{name}: {value}" for name, value in step.value.items())
        case "block":
            return "the bot" if step.value else "the bot no more"
        case "unshare":
            return ""
        case "react" if step.options.get("taken_back"):
            return f"{step.value}, taken back"
        case "delete":
            return " … ".join(as_texts(step.value))
        case "fault":
            return f"{step.value}: {step.options.get('kind', '')}"
        case "silence":
            return f"{step.value} s"
    return str(step.value)
