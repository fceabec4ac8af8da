"""The judges that ship: the first finds calls that go round in circles, the second asks a model about answers."""
