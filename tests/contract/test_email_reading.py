"""Mail as other programs write it, from mailbox to inbox: answers, invitations, character sets, what cannot be read."""

from tests.channels.email.quotes import HTML, PLAIN
from tests.contract.canaries import marked
from tests.contract.delivery_harness import DeliveryHarness
from tests.contract.email_harness import EmailHarness, only_by_mail
from tests.contract.harness import ChannelHarness

pytestmark = only_by_mail


def post(harness: ChannelHarness) -> EmailHarness:
    assert isinstance(harness, EmailHarness)
    return harness


async def test_an_answer_of_any_program_comes_in_without_what_it_quotes(delivery: DeliveryHarness) -> None:
    harness = post(delivery.channel)
    await delivery.meet()
    forms = [*[*PLAIN.values()][::6], *HTML.values()]
    for number, form in enumerate(forms):
        mail = harness.letter("x")
        text = form.replace("valet@example.org", harness.mail.valet).replace("{own}", marked(f"answer {number}"))
        mail.set_content(text, subtype="html" if form.startswith("<") else "plain")
        harness.arrive(mail.as_bytes())
    await harness.settled()
    texts = await delivery.store.db.inbound.column("text", order="seq")
    assert texts == [marked("hello"), *(marked(f"answer {number}") for number in range(len(forms)))]


async def test_mail_of_other_programs_comes_in_as_it_is_seen(delivery: DeliveryHarness) -> None:
    harness = post(delivery.channel)
    await delivery.meet()
    invited = harness.letter("x")
    invited.set_content("<p>Come to <a href='https://x.example/a'>lunch</a>?</p>", subtype="html")
    invited.make_alternative()
    invited.add_alternative("BEGIN:VCALENDAR\nEND:VCALENDAR\n", subtype="calendar", params={"method": "REQUEST"})
    harness.arrive(invited.as_bytes())
    japanese = harness.letter("x").as_bytes().replace(b'charset="utf-8"', b"charset=iso-2022-jp")
    harness.arrive(japanese.replace(b"\n\nx", b"\n\n\x1b$B-!F|K\\\x1b(B"))
    await harness.settled()
    _, first, second = harness.sink.messages
    assert (first.text, second.text) == ("Come to lunch (https://x.example/a)?", "\u2460\u65e5\u672c")
    (calendar,) = first.media
    fetcher = harness.media()
    assert (await fetcher.fetch(calendar, 1000)).body.startswith(b"BEGIN:VCALENDAR")
    await fetcher.close()


async def test_a_mail_in_which_nothing_can_be_read_is_answered(delivery: DeliveryHarness) -> None:
    harness = post(delivery.channel)
    await delivery.meet()
    deep = "".join(f'Content-Type: multipart/mixed; boundary="b{n}"\n\n--b{n}\n' for n in range(60))
    head = harness.letter("x").as_bytes().partition(b"MIME-Version")[0].partition(b"Content-Type")[0]
    harness.arrive(head + deep.encode() + b"Content-Type: text/plain\n\ndeep")
    harness.arrive(harness.letter("> Shall I?\n> OK 7K or NO 7K").as_bytes())
    await harness.settled()
    replies = await delivery.store.db.outbound.column("text", order="seq")
    assert [str(reply)[:30] for reply in replies] == [
        "That mail cannot be read: it i",
        "I found no words of yours in t",
    ]
