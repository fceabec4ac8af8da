"""What a message costs each store, by workers and by people, and the sum for a million people: docs/scale.md."""
