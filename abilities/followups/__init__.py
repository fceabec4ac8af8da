"""Follow-ups: people are asked how something went that was ahead of them, if they say yes to a proposal."""
