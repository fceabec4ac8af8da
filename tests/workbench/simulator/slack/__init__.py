"""The emulated Slack, judged by the official SDKs."""
