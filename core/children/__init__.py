"""Child processes with limits, in which what others wrote is read.

`child_process` has the limits, `kept_process` keeps what forks such children, and `child_server` is that.
"""
