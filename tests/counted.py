"""What the metrics of this process say. They go on through all its tests, so each compares before and after."""

from core import metrics


class Increase:
    """By how much samples rose since this was made."""

    def __init__(self) -> None:
        self._before = _samples()

    def of(self, name: str, /, **labels: str) -> float:
        """Return the increase of one sample, such as `onevalet_turns_failed_total`."""
        key = name, tuple(sorted(labels.items()))
        return _samples().get(key, 0.0) - self._before.get(key, 0.0)


def _samples() -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    families = metrics.REGISTRY.collect()
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in families
        for sample in family.samples
    }
