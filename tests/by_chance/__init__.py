"""Failures by chance: a test that fails in `.ci/run` and passes when it runs again alone, and the ledger of those."""
