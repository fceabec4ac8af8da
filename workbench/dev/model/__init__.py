"""The model that was chosen on the simulator's page: tried, kept in ONEVALET_HOME, and put to work."""
