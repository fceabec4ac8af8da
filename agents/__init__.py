"""The tools that ship, written as yours would be, against public names only."""
