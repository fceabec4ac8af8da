"""Archives with checksums and signatures, which people and operators take away and bring back."""
