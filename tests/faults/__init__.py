"""The fault suite, T1 to T22: a real installation under faults, and the invariants I1 to I12 that must survive them.

`failover/` makes the hosts of T19, `partitions/` the two databases of T20, `extensions/` kills around plugins, skills,
questions and programs, T21, and `peers/` has every client meet peers that speak as nobody should, T22.
"""
