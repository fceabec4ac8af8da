"""A draft that no mail can be is refused before any account is opened."""

import pytest

from abilities.mail.drafts import draft_email
from onevalet import ToolRetry
from onevalet.testing import make_context


@pytest.mark.parametrize(
    ("recipient", "subject", "reason"),
    [("bob@example.org", "Hello\nBcc: eve@example.org", "one line"), ("bob", "Hello", "bob")],
)
async def test_a_draft_that_no_mail_can_be_is_refused_at_once(recipient: str, subject: str, reason: str) -> None:
    with pytest.raises(ToolRetry, match=reason):
        await draft_email("See you.", make_context(), [recipient], subject)
