"""Files that people send and get: fetched, read, stored, and linked to.

`intake` fetches, reads and stores them, `outgoing` sends those that tools make, `links` signs links; the bytes lie in
a folder (`blobs`) or a bucket (`s3`).
"""
