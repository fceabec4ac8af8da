"""Archives that prove themselves: what people and operators take away, and bring back."""
