"""Recall that is left out of no prompt because the machine is busy."""

from dataclasses import replace

from abilities.memory.momex import Momex

PATIENCE = 60.0
"""Seconds."""


def be_patient(momex: Momex) -> None:
    """Let a turn wait for its recall, however slow the machine is."""
    retriever = momex.retriever
    patient = replace(retriever, config=replace(retriever.config, patience=PATIENCE))
    momex.long_term = replace(momex.long_term, retriever=patient)
