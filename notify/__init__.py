"""The way out: whom, where and when to notify, and a folder for each notification channel.

`policy` decides, `service` does it, `held` is what waited; `text_split` cuts long texts.
"""
