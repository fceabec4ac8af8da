"""Takes in messages, statuses, STOP and START, and decisions about approvals.

`decisions` lets a press or a code decide an approval.
"""
