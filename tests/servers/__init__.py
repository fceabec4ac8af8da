"""Real servers that tests start on loopback.

Radicale, Dovecot with a mailbox for every address, nanoidp, PgBouncer, a router with PL/Proxy, Valkeys with Sentinels,
one that rotates tokens, and peers of twenty-odd hostile manners.
"""
