"""Twilio's refusals in its own words: code, message, more_info, status (docs: usage/twilios-response).

The meaning of each code is on twilio.com/docs/api/errors/<code>, which `more_info` points at.
"""

from aiohttp import web

from workbench.simulator.faults import FaultKind, Rule

_MESSAGES = {
    20001: "Invalid parameter",
    20003: "Authentication Error - invalid username",
    20004: "Method not allowed",
    20007: "Page size must be between 1 and 1000",
    20009: "Cannot update or delete a message that is not yet in a final state",
    20404: "The requested resource was not found",
    20429: "Too Many Requests",
    20500: "An internal server error has occurred",
    20503: "Service is unavailable. Please try again",
    21211: "The 'To' number is not a valid phone number",
    21212: "The 'From' number is not a valid phone number, shortcode, or alphanumeric sender ID",
    21266: "'To' and 'From' number cannot be the same",
    21402: "The URL is not valid",
    21403: "The HTTP method is not valid",
    21408: "Permission to send an SMS has not been enabled for the region indicated by the 'To' number",
    21602: "Message body is required.",
    21603: "A 'From' phone number is required.",
    21604: "A 'To' phone number is required.",
    21606: "The 'From' phone number provided is not a valid message-capable Twilio phone number",
    21609: "The 'StatusCallback' URL is not a valid URL.",
    21610: "Attempt to send to unsubscribed recipient",
    21611: "This 'From' number has exceeded the maximum number of queued messages",
    21612: "The message cannot be sent with the current combination of 'To' and 'From' parameters",
    21614: "'To' number is not a valid mobile number",
    21617: "The concatenated message body exceeds the 1600 character limit",
    21620: "Invalid media URL(s)",
    21623: "Number of media files exceeds allowed limit",
    21624: "The ValidityPeriod value must be a whole number from 1 to 36000",
    21655: "The ContentSid is invalid",
    21660: "Mismatch between the 'From' number and the account",
    21701: "The Messaging Service resource does not exist",
    21703: "The Messaging Service does not contain a phone number",
    30409: "This message cannot be canceled",
    35118: "MessagingServiceSid is required to schedule a message",
}

_STATUS = {20003: 401, 20004: 405, 20404: 404, 20429: 429, 20500: 500, 20503: 503}

DELIVERY_ERRORS = {
    11200: "HTTP retrieval failure",
    11751: "Media Message - Media exceeds messaging provider size limit",
    12300: "Invalid Content-Type",
    30003: "Unreachable destination handset",
    30004: "Message blocked",
    30005: "Unknown destination handset",
    30006: "Landline or unreachable carrier",
    30007: "Message filtered",
    30008: "Unknown error",
}


class Refusal(Exception):
    """A refusal of the API; `detail` replaces the usual message."""

    def __init__(self, code: int, detail: str = "") -> None:
        super().__init__(detail or _MESSAGES[code])
        self.code = code

    @property
    def status(self) -> int:
        return _STATUS.get(self.code, 400)

    def answer(self, headers: dict[str, str] | None = None) -> web.Response:
        body = {
            "code": self.code,
            "message": str(self),
            "more_info": f"https://www.twilio.com/docs/errors/{self.code}",
            "status": self.status,
        }
        return web.json_response(body, status=self.status, headers=headers)


def fault_answer(rule: Rule) -> web.Response:
    """Answer a rate limit (docs: errors/20429, with Retry-After in whole seconds) or a server error."""
    if rule.kind is FaultKind.RATE_LIMIT:
        return Refusal(20429).answer({"Retry-After": str(max(1, round(rule.seconds)))})
    answer = Refusal(20503 if rule.status == 503 else 20500).answer()
    answer.set_status(rule.status)
    return answer
