"""The judges that ship: one finds calls that go round in circles, one asks a model whether an answer is good."""
