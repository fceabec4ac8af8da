"""Plan for later: reminders, tasks that recur, wait or watch; and look after these plans."""

from abilities.tasks.at_night import run_task_at_night
from abilities.tasks.dates import RemindBefore
from abilities.tasks.looking_after import (
    list_tasks,
    pause_task,
    resume_task,
    run_task_now,
    stop_task,
    take_back_task_change,
    why_task,
)
from abilities.tasks.reminders import RemindMe, TellExecutor, change_reminder, restore_plan, take_back_reminder
from abilities.tasks.reminding_others import RemindOther, take_back_reminder_for
from abilities.tasks.scheduling import ScheduleTask, SetHeartbeat

__all__ = [
    "RemindBefore",
    "RemindMe",
    "RemindOther",
    "ScheduleTask",
    "SetHeartbeat",
    "TellExecutor",
    "change_reminder",
    "list_tasks",
    "pause_task",
    "restore_plan",
    "resume_task",
    "run_task_at_night",
    "run_task_now",
    "stop_task",
    "take_back_reminder",
    "take_back_reminder_for",
    "take_back_task_change",
    "why_task",
]
