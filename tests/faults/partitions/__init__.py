"""People divided over two databases behind a router, one of which dies."""
