"""Approvals across rooms: raced over two web processes and two workers, decided late, and by other people."""
