"""The assistant of `dev`: all in its process, or web and worker as processes of their own, which may be killed."""
