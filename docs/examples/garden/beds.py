from collections.abc import Sequence

from onevalet import (
    Addressee,
    FileResult,
    Page,
    SaidMessage,
    StoredValue,
    TaskNote,
    TaskState,
    ToolExecutionContext,
    WhileRunning,
    decode_text,
    label_of,
    read_html,
    stored_with,
    tool,
)

ORDERS = stored_with("pump", "primary")


@tool(effect="read", outside=True)
async def what_i_said(words: str, context: ToolExecutionContext) -> list[str]:
    """Find what the person wrote, by its words."""
    found: Sequence[SaidMessage] = await context.conversations.search(words)
    return [message.around(words) for message in found if message.inward]


@tool(effect="idempotent")
async def rest(words: str, context: ToolExecutionContext) -> list[str]:
    """Pause the person's active tasks that have some words in their titles."""
    paused: list[TaskNote] = []
    for task in await context.tasks.list():
        if task.state is TaskState.ACTIVE and words in task.title.lower():
            await context.tasks.change(task.id, "pause")
            paused.append(task)
    return [f"{task.title} ({task.when})" for task in paused]


@tool(effect="idempotent")
async def finish_first(context: ToolExecutionContext) -> str:
    """Let messages wait while the assistant works on one."""
    return await context.person.prefer("busy", WhileRunning.QUEUE)


@tool(effect="idempotent")
async def note_order(what: str, context: ToolExecutionContext) -> str:
    """Note an order at the account of the pump; it goes when the account does."""
    kept: StoredValue = await context.storage.put(ORDERS, context.idempotency_key, what)
    return f"Order {kept.number}: {kept.value}."


async def orders(context: ToolExecutionContext) -> Sequence[StoredValue]:
    return await context.storage.list(ORDERS)


@tool(effect="read", outside=True, addresses=("url",))
async def frost_warning(url: str, context: ToolExecutionContext) -> list[str | FileResult]:
    """Read a weather warning, and send it as a file."""
    page: Page = await read_html(await context.http.request("GET", url))
    return [page.title, FileResult("warning.txt", page.text.encode())]


@tool(effect="read", outside=True)
async def seeds(file: str, context: ToolExecutionContext) -> list[str]:
    """Read a list of seeds that the person sent, whatever character set its program wrote."""
    sent = await context.files.fetch(file)
    label = label_of(sent.body)  # a whole file tells more than a line of it
    return [decode_text(line, label) for line in sent.body.splitlines()]


@tool(effect="idempotent", needs_approval=True)
async def ask_gardener(number: str, text: str, context: ToolExecutionContext) -> str:
    """Write to the gardener by SMS."""
    gardener: Addressee = await context.messages.find("sms", number)
    await context.messages.send(gardener, "the gardener", text, context.idempotency_key)
    return f"Written to {gardener.name}."
