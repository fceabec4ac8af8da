"""The connection pool, the migrations, every SQL function, and how Redis is reached.

`sql/migrations/` has the tables, `sql/functions/` the functions, by room.
"""
