"""Child processes with limits, in which what others wrote is read.

`child_process` asks a script for an answer, `child_job` sets the script's limits and answers, `kept_process` keeps what
forks such children, and `child_server` is that.
"""
