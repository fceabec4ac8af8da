"""An operator's hooks and rules around each step, and the judge that sees loops."""
