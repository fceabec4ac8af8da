"""The servers that `dev` and the tests bring along: a Postgres and a Valkey, direct children of ours.

They need no account, no container and no system service, keep their data below ONEVALET_HOME, listen on
127.0.0.1 with a random password, and end with their parent even when it is killed.
"""
