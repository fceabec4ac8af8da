"""Files that people send and get: fetched, stored, and linked to.

`intake` fetches and stores them, `outgoing` sends the files of tools, `links` signs links; the bytes are in a folder
(`blobs`) or a bucket (`s3`). Abilities bring `FileReader`, which reads their content, and `ShowsFiles`, which shows it
to a model.
"""
