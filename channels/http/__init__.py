"""The web application around the channels: deadlines, hosts, penalties for forged requests, links to files."""
