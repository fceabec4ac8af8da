"""The durable spine, which knows no provider and no ability; its rooms are in layers.

At its door stand `errors`, `ids`, `clock`, `json_types`, `metrics`, `replies` and `tracing`, which any room may
import. Inside a room, `types` holds its values, `store` its SQL, and `chat_words` declares the words that people type
for it.
"""
