"""Kinds of Slack messages by their fields and subtypes, so that every kind gets an answer; pure.

Source: docs.slack.dev, reference/events/message and its subtypes. Anything on neither list is content, including future
kinds.
"""

from core.json_types import JsonObject

TYPED = ("", "file_share", "thread_broadcast", "me_message")
"""The subtypes of messages that a person writes."""

CHANGES = ("message_changed", "message_deleted")
"""The subtypes of events about a message that was sent before."""

HAPPENED = frozenset(
    {
        "assistant_app_thread",
        "bot_add",
        "bot_disable",
        "bot_enable",
        "bot_message",
        "bot_remove",
        "channel_archive",
        "channel_canvas_updated",
        "channel_convert_to_private",
        "channel_convert_to_public",
        "channel_join",
        "channel_leave",
        "channel_name",
        "channel_posting_permissions",
        "channel_purpose",
        "channel_topic",
        "channel_unarchive",
        "document_mention",
        "file_comment",
        "file_mention",
        "group_archive",
        "group_join",
        "group_leave",
        "group_name",
        "group_purpose",
        "group_topic",
        "group_unarchive",
        "huddle_thread",
        "joiner_notification",
        "message_changed",
        "message_deleted",
        "message_replied",
        "pinned_item",
        "reminder_add",
        "reminder_delete",
        "reply_broadcast",
        "sh_room_created",
        "slackbot_response",
        "tombstone",
        "unpinned_item",
    }
)
"""The subtypes of events in which no person wrote to us."""

ABOUT = frozenset(
    {
        "app_context",
        "app_id",
        "assistant_app_thread",
        "attachments",
        "blocks",
        "bot_id",
        "bot_profile",
        "channel",
        "channel_type",
        "client_msg_id",
        "display_as_bot",
        "edited",
        "event_ts",
        "files",
        "hidden",
        "icons",
        "inviter",
        "is_delayed_message",
        "is_intro",
        "is_locked",
        "is_starred",
        "last_read",
        "latest_reply",
        "metadata",
        "name",
        "old_name",
        "parent_user_id",
        "permalink",
        "pinned_info",
        "pinned_to",
        "purpose",
        "reactions",
        "reply_count",
        "reply_users",
        "reply_users_count",
        "root",
        "source_team",
        "subscribed",
        "subtype",
        "team",
        "text",
        "thread_ts",
        "topic",
        "ts",
        "type",
        "unread_count",
        "upload",
        "user",
        "user_profile",
        "user_team",
        "username",
        "x_files",
    }
)
"""Fields about a message, or read together with its words."""


def content_of(record: JsonObject) -> str:
    """Return the name of a field that may be content of an unknown kind; empty if there is none."""
    return min(
        (name for name, value in record.items() if name not in ABOUT and value not in (None, "", [], {})), default=""
    )
