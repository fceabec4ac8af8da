"""Skills: instructions in folders, which the operator accepts and a turn opens by name.

`folders` reads those of the operator, `accepting` accepts them, `use` offers them and people's own, which `tools`
keeps.
"""
