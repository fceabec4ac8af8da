"""Changes one line of the product at a time and says which changes the tests notice.

`operators` change, `rooms` choose the lines, `lines` learns which test runs which, `trying` runs them in forks.
"""
