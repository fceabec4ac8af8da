"""What a newcomer does in the guided minute."""

from tests.page.chromium import Page
from tests.page.talk import said

STEPS = ("Ask by SMS", "Approve from Slack", "Be reminded on Telegram", "Move the clock")


async def follow_guide(page: Page, url: str) -> None:
    """Open the page and press what the guide offers, until each step is done."""
    await page.goto(url)
    for number, (step, button) in enumerate(zip(STEPS, ("Text", "Write “OK", "Write “Remind", "Move"), strict=True), 1):
        await page.until(f"document.querySelector('.guide-steps [data-state=now]').innerText.includes({step!r})")
        # The button takes no press while the step before is still being carried out.
        await page.until("!document.querySelector('.guide .primary').disabled")
        await page.click(".guide .primary", button)
        await page.until(f"document.querySelectorAll('.guide-steps [data-state=done]').length === {number}")
        await page.until("document.querySelector('.under-it').innerText.length > 80")
    await page.until(f"{said('phone')}.some((one) => one.includes('Sent to sam@example.com'))")
    await page.until(f"{said('telegram')}.at(-1).includes('call Grace')")
