"""Notifications as abilities hand them over: the values, the protocol, and the channels in words."""
