"""Text of what others wrote, such as web pages and files, made in a child process with limits.

`child_process` has the limits, `kept_process` keeps what forks such children, and `child_server` is that.
"""
