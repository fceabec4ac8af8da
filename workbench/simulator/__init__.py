"""The providers, emulated over HTTP and as strict as they are, and the page that shows their chats.

`page/` is the view in the browser, `keeping` keeps the chats over restarts, and `people` adds people.
"""
