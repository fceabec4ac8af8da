"""Why a metric falls short of its goal, found by profiling it; the page prints the reason while it does."""

REASONS: dict[str, str] = {}
