"""Due tasks become runs: fired, made up for when missed, executed.

`firing` turns a due task into a run, `misfires` decides about missed occurrences, `executors` do the work.
"""
