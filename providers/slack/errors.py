"""Slack's refusals and the failures of the wire as our errors; pure.

Source of the codes: docs.slack.dev, reference/methods/chat.postMessage, "Errors".
"""

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError

from core.errors import Ambiguous, CredentialsRejected, DeliveryError, RateLimited, Rejected, Unavailable, Unreachable
from core.http.provider_session import StrangeAnswer, retry_after

FORMATTING = frozenset(
    [
        "invalid_blocks",
        "invalid_blocks_format",
        "msg_blocks_too_long",
        "msg_too_long",
        "markdown_text_conflict",
        "no_text",
        "invalid_arguments",
        "block_mismatch",
        "too_many_blocks",
    ]
)
"""Slack refuses only the form: the words alone may still be accepted."""

FAILURES = (SlackClientError, aiohttp.ClientError, OSError, ValueError, AttributeError, RecursionError)
"""The SDK's errors. The last three come from unreadable answers: not an object, or nested without end."""

_KINDS: dict[str, type[DeliveryError]] = {
    **dict.fromkeys(("ratelimited", "rate_limited", "message_limit_exceeded"), RateLimited),
    **dict.fromkeys(
        [
            "channel_not_found",
            "is_archived",
            "user_not_found",
            "users_not_found",
            "user_disabled",
            "user_not_visible",
            "cannot_dm_bot",
            "not_in_channel",
            "user_is_bot",
            "is_inactive",
        ],
        Unreachable,
    ),
    **dict.fromkeys(
        [
            "account_inactive",
            "invalid_auth",
            "token_revoked",
            "token_expired",
            "not_authed",
            "missing_scope",
            "no_permission",
            "not_allowed_token_type",
            "access_denied",
            "accesslimited",
            "org_login_required",
            "ekm_access_denied",
            "team_access_not_granted",
            "enterprise_is_restricted",
            "restricted_action",
            "restricted_action_read_only_channel",
            "messages_tab_disabled",
            "two_factor_setup_required",
        ],
        CredentialsRejected,
    ),
    # Slack did not read the call, or is moving the team.
    **dict.fromkeys(("request_timeout", "team_added_to_org"), Unavailable),
    # fatal_error: "some aspect of the operation may have succeeded before the error was raised".
    **dict.fromkeys(("fatal_error", "internal_error", "service_unavailable"), Ambiguous),
}


def to_delivery_error(error: Exception) -> DeliveryError:
    """Return the delivery error of a call.

    Any 5xx is ambiguous: Slack has no idempotency key, and a proxy's 503 may follow an acceptance. Any other answer
    without Slack's own "ok" is a proxy's or a captive portal's, and the call did not reach Slack.
    """
    if isinstance(error, SlackApiError):
        return _refusal(error)
    if isinstance(error, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError):
        return Unavailable(f"no connection: {type(error).__name__}")
    if isinstance(error, aiohttp.InvalidURL):
        return Rejected("the API URL is no URL")
    if isinstance(error, StrangeAnswer):
        return (Ambiguous if error.status >= 500 else Unavailable)(str(error))
    return Ambiguous(f"answer lost: {type(error).__name__}")


def _refusal(error: SlackApiError) -> DeliveryError:
    response = error.response
    # For an answer that is no JSON the SDK hands over the HTTP library's own response.
    status = int(getattr(response, "status_code", 0) or getattr(response, "status", 0) or 0)
    code = _code(getattr(response, "data", None))
    message = f"HTTP {status}, {code}" if code else f"HTTP {status}"
    if status == 429 or code in ("ratelimited", "rate_limited"):
        headers = getattr(response, "headers", None)
        return RateLimited(message, code, retry_after(headers.get("Retry-After") if headers else None))
    if status >= 500 or status in (0, 408):
        return Ambiguous(message, code)
    if not code:
        return Unavailable(f"no answer of Slack's, {message}")
    return _KINDS.get(code, Rejected)(message, code)


def _code(data: object) -> str:
    return str(data.get("error") or "") if isinstance(data, dict) else ""
