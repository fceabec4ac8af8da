"""Delivery of messages: the head of each outbox, part by part, its retries, files and cards."""
