"""Mail in people's own accounts: read, sorted, drafted, sent and watched.

They stand on `providers/email`. `watcher` waits for new mail, `watches` says how far each mailbox is read.
"""
