"""People's own words for the gateway itself, answered without a model."""

from dataclasses import dataclass

from core.messages import Command


@dataclass(frozen=True, slots=True)
class CommandAnswer:
    """What is said to a command. `new_session`: what was said before is set aside for the model."""

    text: str
    new_session: bool = False


def answer_command(command: Command, channel: str) -> CommandAnswer | None:
    """Answer a command, or None when it is not one of ours and its text goes to the assistant."""
    match command.name:
        case "new":
            return CommandAnswer("A fresh start. What can I do for you?", new_session=True)
        case "stop":
            return CommandAnswer("Nothing is running at the moment.")
        case "start":
            return CommandAnswer(f"Hello! I am your assistant: write to me in your own words. {_help(channel)}")
        case "help":
            return CommandAnswer(_help(channel))
    return None


def _help(channel: str) -> str:
    match channel:
        case "sms":
            words = "NEW starts afresh, HALT stops what I am doing, STOP ends all messages from me."
        case "slack":
            words = "`/valet new` starts afresh, `/valet stop` stops what I am doing."
        case _:
            words = "/new starts afresh, /stop stops what I am doing."
    return f"Ask me anything, for example “what can you do?”. {words}"
