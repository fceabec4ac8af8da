"""The router before partitions, which leads each call of the way in to the Postgres that has its person."""
