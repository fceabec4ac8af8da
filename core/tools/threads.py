"""Run ordinary functions in threads that nothing has to wait for."""

import asyncio
import contextvars
import threading
from collections.abc import Callable, Mapping


async def call_in_thread(fn: Callable[..., object], arguments: Mapping[str, object]) -> object:
    """Call a function in a thread of its own.

    Cancelling stops the waiting and not the thread. The default executor would make the process wait for such
    threads when it ends, and a few that hang would leave none for the others: hence a daemon thread a call.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[object] = loop.create_future()
    context = contextvars.copy_context()

    def settle(value: object, error: BaseException | None) -> None:
        if future.done():
            return
        if error is None:
            future.set_result(value)
        else:
            future.set_exception(error)

    def work() -> None:
        value: object = None
        error: BaseException | None = None
        try:
            value = context.run(fn, **arguments)
        except (StopIteration, SystemExit) as caught:  # a future refuses the first, a loop ends on the second
            error = RuntimeError(type(caught).__name__)
        except BaseException as caught:
            error = caught
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, value, error)

    threading.Thread(target=work, name=f"tool-{fn.__name__}", daemon=True).start()
    return await future
