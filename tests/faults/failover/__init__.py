"""A Postgres of three hosts under Patroni, its primary taken away while people write."""
