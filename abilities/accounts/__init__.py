"""People's accounts elsewhere: which services there are, connecting them, fresh tokens."""
