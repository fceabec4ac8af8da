"""The product's own sentences in six languages, and days, times and amounts in words.

`catalogue` says the sentences and `update` collects them; `times` words days and spans, `unseen` leaves out letters
that nobody sees.
"""
