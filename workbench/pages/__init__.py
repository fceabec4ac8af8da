"""The pages of `docs` that are made from the code: public names, chat words, and the map of the rooms."""
