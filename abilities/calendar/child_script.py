"""The child process that reads and writes iCalendar: a script by itself, which no other module imports.

An event that others wrote may be made to run for ever or to fill the memory: each is given little time, and all of them
together are bounded by the process.
"""

from abilities.calendar.ical.answering import answer
from core.children.child_job import answer_request

MEMORY = 512 * 1024 * 1024
CPU_SECONDS = 15


if __name__ == "__main__":
    answer_request(lambda asked, _: (answer(asked), b""), memory=MEMORY, cpu_seconds=CPU_SECONDS)
