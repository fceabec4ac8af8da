"""Receives messages, statuses, opt-outs, and decisions about approvals.

`approval_decisions` lets a press or a code decide an approval.
"""
