"""The connection pool, the migrations, every SQL function, and the clients of Redis.

`sql/migrations/` has the tables, `sql/functions/` the functions, by room.
"""
