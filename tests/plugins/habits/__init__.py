"""A habit tracker: an ability that is written outside of the product, all of it in this folder."""
