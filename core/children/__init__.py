"""Child processes with limits, in which untrusted bytes are read.

`child_process` asks a script for an answer, `child_job` sets the script's limits and answers, `kept_process` keeps the
processes that fork such children, and `child_server` is such a process.
"""
