"""Files that people send and get: fetched, stored, and linked to.

`intake` fetches and stores them, `outgoing` sends those that tools make, `links` signs links; the bytes lie in a folder
(`blobs`) or a bucket (`s3`). What is in them is read by `FileReader`, and shown to a model by `ShowsFiles`: abilities
bring both.
"""
