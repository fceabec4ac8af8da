"""When a task is due: schedules, events, conditions."""
