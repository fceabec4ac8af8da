"""Slack's numbers, each with the document it comes from (docs.slack.dev unless said otherwise)."""

# reference/methods/chat.postMessage: text over 40,000 characters is truncated, with a warning.
TEXT_TRUNCATED_AT = 40_000
# reference/methods/chat.update, error msg_too_long: text cannot exceed 4,000 characters.
UPDATE_TEXT = 4_000
# reference/methods/chat.postMessage and chat.*Stream: markdown_text is limited to 12,000 characters.
MARKDOWN_TEXT = 12_000
# reference/block-kit/blocks/markdown-block: 12,000 characters over all markdown blocks of a payload.
MARKDOWN_BLOCKS = 12_000
# Written nowhere: github.com/slackapi/bolt-js/issues/2509 saw msg_blocks_too_long from about 13,200 on.
ALL_BLOCKS = 13_200
# reference/block-kit/blocks: 50 blocks a message, 100 a modal or home tab.
MESSAGE_BLOCKS = 50
VIEW_BLOCKS = 100

# reference/block-kit/blocks/…
BLOCK_ID = 255
SECTION_TEXT = 3_000
HEADER_TEXT = 150
ACTIONS_ELEMENTS = 25
CONTEXT_ELEMENTS = 10
INPUT_LABEL = 2_000

# reference/block-kit/block-elements/…
ACTION_ID = 255
BUTTON_TEXT = 75
BUTTON_VALUE = 2_000
PLACEHOLDER = 150
SELECT_OPTIONS = 100
INPUT_LENGTH = 3_000

# reference/block-kit/composition-objects/…
TEXT_OBJECT = 3_000
OPTION_TEXT = 75
OPTION_VALUE = 150

# reference/views/modal-views
VIEW_TITLE = 24
PRIVATE_METADATA = 3_000
CALLBACK_ID = 255
EXTERNAL_ID = 255
# reference/methods/views.open, error view_too_large: 250 kB.
VIEW_BYTES = 250_000
# reference/methods/views.push, error push_limit_reached: three views in a stack.
VIEW_STACK = 3

# messaging/message-metadata: the size is limited, the number isn't on the page; 16 kB is our strict guess.
METADATA_BYTES = 16_000

# reference/methods/assistant.threads.setStatus and .setSuggestedPrompts
STATUS_SECONDS = 120.0
LOADING_MESSAGES = 10
PROMPTS = 4

# interactivity/handling-user-interaction: trigger_id is good for 3 s, once; response_url 5 times in 30 min.
TRIGGER_SECONDS = 3.0
RESPONSE_URL_USES = 5
RESPONSE_URL_SECONDS = 1_800.0

# apis/events-api: 3 s to answer; retries nearly at once, after one minute, after five minutes.
ACK_SECONDS = 3.0
RETRY_AFTER_SECONDS = (0.1, 60.0, 300.0)
REDIRECTS = 2

# apis/events-api/using-socket-mode: ten connections an app; the URL of a connection is short-lived.
CONNECTIONS = 10
TICKET_SECONDS = 30.0

# github.com/vercel/chat/issues/607: the streaming state ends some minutes after the last append.
STREAM_IDLE_SECONDS = 300.0

# apis/web-api/rate-limits: about one message a second per channel.
POSTS_PER_SECOND = 1.0
