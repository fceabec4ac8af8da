"""Approvals raced over two web processes and two workers, of which some are killed."""
