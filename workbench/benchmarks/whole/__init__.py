"""The whole way of a text: a web and a worker process of any commit, between a simulated model and provider."""
