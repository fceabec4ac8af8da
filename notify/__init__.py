"""The way out: the choice of person, place and time, and a folder for each notification channel.

`policy` decides, `service` sends, `held` releases waiting notifications; `text_split` cuts long texts.
"""
