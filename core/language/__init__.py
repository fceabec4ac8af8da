"""The product's own sentences in six languages, and days, times and amounts in words.

`catalogue` translates the sentences and `update` collects them; `times` words days and spans, `unseen` removes
invisible letters.
"""
