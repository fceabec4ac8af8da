"""The judges that ship: one finds calls in circles and claims that no call backs, one asks a model about answers."""
