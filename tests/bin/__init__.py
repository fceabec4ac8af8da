"""The commands of the README, in a clone."""
