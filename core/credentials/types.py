"""What is known of a person's connected accounts, without their secrets."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ConnectedAccounts:
    """The accounts of one service that a person has connected. `preferred`: the one they chose, or empty."""

    service: str
    names: tuple[str, ...]
    preferred: str = ""

    @property
    def chosen(self) -> str:
        """Name the account to use when the person named none; empty: there is none, or ask them which."""
        return self.preferred or (self.names[0] if len(self.names) == 1 else "")
