"""T2's part about what people do besides writing: edits, deletions, reactions, places, and claims asked again."""
