"""The cost of answers and tasks, stated in advance: a person chooses how a long SMS is sent; `cost` adds all up."""
