"""Lines of prompts that are found again in a conversation: a single format for each."""

CONTEXT = "[Context from the system]"
"""The beginning of the message that gives the model the time and other state, and is not the person's."""
NOW = "Now it is {weekday}, {date} {time} in the person's timezone, {zone}."
LANGUAGE = "Their language is {language}; answer in the language they write in."
PENDING = "- {code}: {summary}; {action}"
"""An action that the person may decide in their own words."""
PENDING_BY_CODE = "- {code}: {summary} (only by button or code); {action}"
TRIGGER_MARKS = {
    "schedule": "[Scheduled Task]",
    "event": "[Event Trigger]",
    "condition": "[Condition Trigger]",
}
"""The beginning of a task's message, by the kind of its trigger; the event follows, then the instruction."""
EVENT_CAME = "{event}: "
CONDITION_MET = "Condition met: {expression}. "
