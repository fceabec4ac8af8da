"""The assistant's own mailbox, over the core's mail."""
