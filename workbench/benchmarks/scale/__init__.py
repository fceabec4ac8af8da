"""The cost of a message to each store, by workers and by people, and the sum for a million people: docs/scale.md."""
