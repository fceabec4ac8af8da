"""Twilio's webhooks: texts, pictures and statuses.

`verify` checks the signature, `parse` normalises, `receive` answers, `catchup` finds missed texts.
"""
