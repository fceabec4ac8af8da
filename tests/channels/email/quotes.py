"""What mail programs put around an answer, each in the languages of its users: `{own}` stands for what a person wrote.

Plain forms end in what the program quotes; forms of HTML begin with "<". The reason for each is the program that writes
it so. Those of (new) no report named.
"""

Q = "> Shall I book the table?\n>\n> OK 7K or NO 7K"
V = "Valet <valet@example.org>"
H = "Valet &lt;<a href='mailto:valet@example.org'>valet@example.org</a>&gt;"
_BLOCK = "{sender} {v}\n{moment} {day}\n{to} Ada\n{about} Re: Lunch\n\nShall I book the table?\n\nOK 7K or NO 7K"


def _outlook(sender: str, moment: str, to: str, about: str, day: str) -> str:
    return "{own}\n\n" + _BLOCK.format(sender=sender, v=V, moment=moment, day=day, to=to, about=about)


PLAIN = {
    # Gmail on the web and on telephones, one line for each language; long ones are broken.
    "Gmail, en": "{own}\n\nOn Mon, Nov 23, 2026 at 9:00 AM " + V + " wrote:\n\n" + Q,
    "Gmail, en, broken twice": "{own}\n\nOn Mon, Nov 23, 2026 at 9:00 AM Valet The "
    "Assistant\n<valet@example.org>\nwrote:\n" + Q,
    "Gmail, en, broken before the time": "{own}\n\nOn Monday, the twenty-third, that is Mon, Nov 23, "
    "2026 at\n9:00 AM " + V + " wrote:\n\n" + Q,
    "Gmail, en-GB": "{own}\n\nOn Mon, 23 Nov 2026, 09:00 Valet, <valet@example.org> wrote:\n\n" + Q,
    "Gmail, de": "{own}\n\nAm Mo., 23. Nov. 2026 um 09:00 Uhr schrieb " + V + ":\n\n" + Q,
    "Gmail, es": "{own}\n\nEl lun, 23 nov 2026 a las 9:00, Valet (<valet@example.org>) escribió:\n\n" + Q,
    "Gmail, fr": "{own}\n\nLe lun. 23 nov. 2026 à 09:00, " + V + " a écrit :\n\n" + Q,
    "Gmail, fr, with hard spaces": "{own}\n\nLe lun. 23 nov. 2026 à 09:00, " + V + " a\u00a0écrit\u00a0:\n\n" + Q,
    "Gmail, pt": "{own}\n\nEm seg., 23 de nov. de 2026 às 09:00, " + V + "\nescreveu:\n\n" + Q,
    "Gmail, zh": "{own}\n\n" + V + " 于2026年11月23日周一 09:00写道：\n\n" + Q,
    "Gmail, zh-TW": "{own}\n\n" + V + " 於 2026年11月23日 週一 上午9:00寫道：\n\n" + Q,
    "Gmail, ja": "{own}\n\n2026年11月23日(月) 9:00 " + V + ":\n\n" + Q,
    "Gmail, ko": "{own}\n\n2026년 11월 23일 (월) 오전 9:00, " + V + "님이 작성:\n\n" + Q,
    "Gmail, it": "{own}\n\nIl giorno lun 23 nov 2026 alle ore 09:00 " + V + " ha\nscritto:\n\n" + Q,
    "Gmail, nl": "{own}\n\nOp ma 23 nov 2026 om 09:00 schreef " + V + ":\n\n" + Q,
    "Gmail, pl": "{own}\n\npon., 23 lis 2026 o 09:00 " + V + " napisał(a):\n\n" + Q,
    "Gmail, ru": "{own}\n\nпн, 23 нояб. 2026 г. в 09:00, " + V + ":\n\n" + Q,
    "Gmail, sv": "{own}\n\nDen mån 23 nov. 2026 kl 09:00 skrev " + V + ":\n\n" + Q,
    "Gmail, tr (new)": "{own}\n\n" + V + ", 23 Kas 2026 Pzt, 09:00 tarihinde şunu yazdı:\n\n" + Q,
    "Gmail, hu (new)": "{own}\n\n" + V + " ezt írta (időpont: 2026. nov. 23., H, 9:00):\n\n" + Q,
    "Gmail, he (new)": "{own}\n\n\u202bבתאריך יום ב׳, 23 בנוב׳ 2026 ב-9:00 מאת \u202aValet\u202c\u200f "
    "<\u202avalet@example.org\u202c\u200f>:\u202c\n\n" + Q,
    "Gmail, vi (new)": "{own}\n\nVào 09:00, Th 2, 23 thg 11, 2026 " + V + " đã viết:\n\n" + Q,
    # Apple Mail.
    "Apple Mail, en": "{own}\n\n> On 23 Nov 2026, at 09:00, " + V + " wrote:\n> \n" + Q,
    "Apple Mail, en-US": "{own}\n\n> On Nov 23, 2026, at 9:00 AM, " + V + " wrote:\n> \n" + Q,
    "iPhone, en": "{own}\n\nSent from my iPhone\n\n> On 23 Nov 2026, at 09:00, " + V + " wrote:\n> \n> \ufeff\n" + Q,
    "iPhone, de": "{own}\n\nVon meinem iPhone gesendet\n\n> Am 23.11.2026 um 09:00 schrieb " + V + ":\n> \n" + Q,
    "iPhone, fr": "{own}\n\nEnvoyé de mon iPhone\n\n> Le 23 nov. 2026 à 09:00, " + V + " a écrit :\n> \n" + Q,
    "iPhone, es": "{own}\n\nEnviado desde mi iPhone\n\n> El 23 nov 2026, a las 9:00, " + V + " escribió:\n> \n" + Q,
    "iPhone, pt": "{own}\n\nEnviado do meu iPhone\n\n> Em 23 de nov. de 2026, à(s) 09:00, "
    + V
    + " escreveu:\n> \n"
    + Q,
    "iPhone, zh": "{own}\n\n发自我的 iPhone\n\n> 在 2026年11月23日，09:00，" + V + " 写道：\n> \n" + Q,
    "iPhone, ja (new)": "{own}\n\niPhoneから送信\n\n> 2026/11/23 9:00、" + V + "のメール:\n> \n" + Q,
    # Thunderbird, whose line names nobody's address.
    "Thunderbird, en": "{own}\n\nOn 11/23/26 09:00, Valet wrote:\n" + Q,
    "Thunderbird, en-GB": "{own}\n\nOn 23/11/2026 09:00, Valet wrote:\n" + Q,
    "Thunderbird, de": "{own}\n\nAm 23.11.26 um 09:00 schrieb Valet:\n" + Q,
    "Thunderbird, fr": "{own}\n\nLe 23/11/2026 à 09:00, Valet a écrit :\n" + Q,
    "Thunderbird, es": "{own}\n\nEl 23/11/26 a las 9:00, Valet escribió:\n" + Q,
    "Thunderbird, pt": "{own}\n\nEm 23/11/2026 09:00, Valet escreveu:\n" + Q,
    "Thunderbird, zh": "{own}\n\n在 2026/11/23 9:00, Valet 写道:\n" + Q,
    "Thunderbird, ru": "{own}\n\n23.11.2026 9:00, Valet пишет:\n" + Q,
    "Thunderbird, pl (new)": "{own}\n\nW dniu 23.11.2026 o 09:00, Valet pisze:\n" + Q,
    "Thunderbird, answer below": "On 11/23/26 09:00, Valet wrote:\n" + Q + "\n\n{own}\n",
    "Thunderbird, signature": "{own}\n\n-- \nAda Lovelace\nAnalytical Engines\n",
    # Outlook, which marks no line of what it quotes.
    "Outlook, en": _outlook("From:", "Sent:", "To:", "Subject:", "Monday, November 23, 2026 9:00 AM"),
    "Outlook, en, with its line": "{own}\n\n________________________________\n"
    + _outlook("From:", "Sent:", "To:", "Subject:", "Monday, November 23, 2026 9:00 AM").removeprefix("{own}\n\n"),
    "Outlook, de": _outlook("Von:", "Gesendet:", "An:", "Betreff:", "Montag, 23. November 2026 09:00"),
    "Outlook, fr": _outlook("De :", "Envoyé :", "À :", "Objet :", "lundi 23 novembre 2026 09:00"),
    "Outlook, fr, new": _outlook("De :", "Envoyé le :", "À :", "Objet :", "lundi 23 novembre 2026 09:00"),
    "Outlook, es": _outlook("De:", "Enviado el:", "Para:", "Asunto:", "lunes, 23 de noviembre de 2026 9:00"),
    "Outlook, pt": _outlook("De:", "Enviado:", "Para:", "Assunto:", "segunda-feira, 23 de novembro de 2026 09:00"),
    "Outlook, pt-BR": _outlook(
        "De:", "Enviada em:", "Para:", "Assunto:", "segunda-feira, 23 de novembro de 2026 09:00"
    ),
    "Outlook, zh": _outlook("发件人:", "发送时间:", "收件人:", "主题:", "2026年11月23日 9:00"),
    "Outlook, zh-TW": _outlook("寄件者:", "寄件日期:", "收件者:", "主旨:", "2026年11月23日 上午 09:00"),
    "Outlook, it": _outlook("Da:", "Inviato:", "A:", "Oggetto:", "lunedì 23 novembre 2026 09:00"),
    "Outlook, nl": _outlook("Van:", "Verzonden:", "Aan:", "Onderwerp:", "maandag 23 november 2026 09:00"),
    "Outlook, ja": _outlook("差出人:", "送信日時:", "宛先:", "件名:", "2026年11月23日 9:00"),
    "Outlook, sv (new)": _outlook("Från:", "Skickat:", "Till:", "Ämne:", "den 23 november 2026 09:00"),
    "Outlook for Mac": _outlook("From:", "Date:", "To:", "Subject:", "Monday, 23 November 2026 at 09:00"),
    "Outlook, bold in plain text": _outlook(
        "*From:*", "*Sent:*", "*To:*", "*Subject:*", "Monday, November 23, 2026 9:00"
    ),
    "Outlook, in a language we have not": "{own}\n\n________________________________\nNuo: "
    + V
    + "\nIšsiųsta: 2026 m. lapkričio 23 d. 09:00\nKam: Ada\nTema: Re: Lunch\n\nShall I book the table?",
    "Outlook, old": "{own}\n\n-----Original Message-----\nFrom: Valet\nShall I book the table?",
    "Outlook, old, de": "{own}\n\n-----Ursprüngliche Nachricht-----\nVon: Valet\nSoll ich buchen?",
    "Outlook for iPhone": "{own}\n\nGet Outlook for iOS<https://aka.ms/o0ukef>\n________________________________\n"
    + _outlook("From:", "Sent:", "To:", "Subject:", "Monday, November 23, 2026 9:00:00 AM").removeprefix("{own}\n\n"),
    # Others.
    "Samsung": "{own}\n\nSent from my Galaxy\n\n-------- Original message --------\nFrom: "
    + V
    + "\nDate: 23/11/2026 09:00 (GMT+01:00)\nTo: Ada\nSubject: Re: Lunch\n\nShall I?",
    "Yahoo": "{own}\n\n    On Monday, November 23, 2026 at 09:00:00 AM GMT+1, "
    + V
    + " wrote:  \n \n Shall I?\n\nOK 7K or NO 7K",
    "Yahoo, de": "{own}\n\n    Am Montag, 23. November 2026 um 09:00:00 MEZ hat "
    + V
    + " Folgendes geschrieben:  \n \n Shall I?",
    "Yahoo, telephone": "{own}\n\nYahoo Mail: Search, Organize, Conquer\n\nOn Mon, Nov 23, 2026 at 9:00, "
    "Valet<valet@example.org> wrote:\n\n"
    "Shall I?",
    "Proton": "{own}\n\nSent with Proton Mail secure email.\n\nOn Monday, November 23rd, 2026 at 9:00 AM, "
    + V
    + " wrote:\n\n"
    + Q,
    "Proton, old": "{own}\n\n------- Original Message -------\nOn Monday, November 23rd, 2026 at 9:00 AM, "
    + V
    + " wrote:\n\n"
    + Q,
    "Fastmail": "{own}\n\nOn Mon, Nov 23, 2026, at 9:00 AM, Valet wrote:\n" + Q,
    "GMX and WEB.DE": '{own}\n \n\nGesendet: Montag, 23. November 2026 um 09:00 Uhr\nVon: "Valet" '
    "<valet@example.org>\n"
    "An: ada@example.com\nBetreff: Re: Lunch\n\nShall I?",
    "GMX, telephone": "{own}\n-- \nDiese Nachricht wurde von meinem Android-Gerät mit GMX Mail gesendet.\n\n"
    "Am 23.11.26, 09:00 schrieb " + V + ":\n\n" + Q,
    "Mail.ru": "{own}\n\n-- \nОтправлено из Mail.ru\n\nПонедельник, 23 ноября 2026, 9:00 +03:00 от " + V + ":\n\n" + Q,
    "Yandex": '{own}\n\n23.11.2026, 09:00, "Valet" <valet@example.org>:\n\n' + Q,
    "163": '{own}\n\n在 2026-11-23 09:00:00，"Valet" <valet@example.org> 写道：\n' + Q,
    "163, new": "{own}\n\n---- 回复的原邮件 ----\n| 发件人 | " + V + " |\n| 日期 | 2026年11月23日 09:00 |\nShall I?",
    "QQ": '{own}\n\n------------------\u00a0原始邮件\u00a0------------------\n发件人: "Valet" '
    "<valet@example.org>;\n发送时间: 2026年11月23日(星期一) 上午9:00\n"
    '收件人: "Ada";\n主题: Re: Lunch\n\nShall I?',
    "Zoho (new)": "{own}\n\n---- On Mon, 23 Nov 2026 09:00:00 +0100 " + V + " wrote ----\n\nShall I?\n\nOK 7K or NO 7K",
    "mutt": "{own}\n\nOn Mon, Nov 23, 2026 at 09:00:00AM +0100, Valet wrote:\n" + Q,
    "Roundcube": "On 2026-11-23 09:00, Valet wrote:\n" + Q + "\n\n{own}",
    "Lotus Notes": "{own}\n\n\nFrom:\t"
    + V
    + "\nTo:\tAda\nDate:\t23.11.2026 09:00\nSubject:\tRe: Lunch\n\n\n\nShall I?",
    "only marks, without a line": "{own}\n\n" + Q,
}
_G = (
    "<blockquote class='gmail_quote' style='margin:0px 0px 0px 0.8ex;border-left:1px solid rgb(204,204,204);"
    "padding-left:1ex'>"
)
_OLD = "<div>Shall I book the table?</div><div>OK 7K or NO 7K</div>"
_HEAD = (
    "<b>From:</b> "
    + H
    + "<br><b>Sent:</b> Monday, November 23, 2026 9:00 AM<br><b>To:</b> Ada<br><b>Subject:</b> Re: Lunch"
)
HTML = {
    "Gmail": "<div dir='ltr'>{own}</div><br><div class='gmail_quote gmail_quote_container'><div "
    "dir='ltr' class='gmail_attr'>On Mon, Nov 23,"
    " 2026 at 9:00\u202fAM " + H + " wrote:<br></div>" + _G + _OLD + "</blockquote></div>",
    "Gmail, in Finnish": "<div dir='ltr'>{own}</div><br><div class='gmail_quote'><div dir='ltr' "
    "class='gmail_attr'>ma 23. marrask. 2026 klo 9.00"
    " Valet (" + H + ") kirjoitti:<br></div>" + _G + _OLD + "</blockquote></div>",
    "Gmail, answered between": "<div class='gmail_quote'><div class='gmail_attr'>On Mon, Nov 23, 2026 at 9:00 AM "
    + H
    + " wrote:<br></div>"
    + _G
    + "<div>Shall I?</div></blockquote><div>{own}</div>"
    + _G
    + "<div>OK 7K or NO 7K</div></blockquote></div>",
    "Outlook on the web": "<div>{own}</div><div id='appendonsend'></div><hr style='display:inline-block;width:98%'>"
    "<div id='divRplyFwdMsg' dir='ltr'><font>" + _HEAD + "</font><div>&nbsp;</div></div>" + _OLD,
    "Outlook on Windows": "<p class=MsoNormal>{own}<o:p></o:p></p><p "
    "class=MsoNormal><o:p>&nbsp;</o:p></p><div><div style='border:none;"
    "border-top:solid #E1E1E1 1.0pt;padding:3.0pt 0in 0in 0in'><p class=MsoNormal>"
    + _HEAD
    + "<o:p></o:p></p></div></div>"
    + _OLD,
    "Outlook for iPhone": "<div>{own}</div><div id='ms-outlook-mobile-signature'>Get <a "
    "href='https://aka.ms/o0ukef'>Outlook for iOS</a></div>"
    "<div id='mail-editor-reference-message-container'><div "
    "class='ms-outlook-mobile-reference-message'><div style='border:none;border-top:solid"
    " #B5C4DF 1.0pt;padding:3.0pt 0in 0in 0in'>" + _HEAD + "</div>" + _OLD + "</div></div>",
    "Apple Mail": "<div>{own}</div><br><div><blockquote type='cite'><div>On 23 Nov 2026, at 09:00, Valet "
    "&lt;valet@example.org&gt; wrote:</div><br>" + _OLD + "</blockquote></div>",
    "Thunderbird": "<p>{own}</p><div class='moz-cite-prefix'>On 11/23/26 09:00, Valet "
    "wrote:<br></div><blockquote type='cite'"
    " cite='mid:1@example.org'>" + _OLD + "</blockquote>",
    "Yahoo": "<div dir='ltr'>{own}</div><div id='yahoo_quoted_1' class='yahoo_quoted'><div><div>On "
    "Monday, November 23, 2026 at 09:00:00 AM GMT+1, " + H + " wrote:</div><div><br></div>" + _OLD + "</div></div>",
    "Proton": "<div>{own}</div><div class='protonmail_quote'>On Monday, November 23rd, 2026 at 9:00 AM, "
    + H
    + " wrote:<br><blockquote class='protonmail_quote' type='cite'>"
    + _OLD
    + "</blockquote></div>",
    "GMX": "<div>{own}</div><div name='quote' style='margin:10px 5px 5px 10px; padding: 10px 0 10px "
    "10px; border-left:2px solid #C3D9E5;'>"
    "<div><b>Gesendet:</b> Montag, 23. November 2026<br><b>Von:</b> Valet</div>" + _OLD + "</div>",
    "Mail.ru": "<div>{own}</div><blockquote style='border-left:1px solid #0857A6;margin:10px;padding:0 0 "
    "0 10px'>Понедельник, 23 ноября 2026, 9:00"
    " +03:00 от " + H + ":<br>" + _OLD + "</blockquote>",
    "Yandex, whose quote has no mark": '<div>{own}</div><div>23.11.2026, 09:00, "Valet" '
    "&lt;valet@example.org&gt;:</div><blockquote>" + _OLD + "</blockquote>",
    "Tuta (new)": "<div>{own}</div><div>23 Nov 2026, 09:00 by valet@example.org:</div><blockquote "
    "class='tutanota_quote'>" + _OLD + "</blockquote>",
    "QQ": "<div>{own}</div><div>------------------&nbsp;Original&nbsp;------------------</div><div>From: "
    "&quot;Valet&quot; &lt;valet@example.org&gt;;"
    "</div><div>Date: Mon, Nov 23, 2026 09:00 AM</div><div>Subject: Re: Lunch</div>" + _OLD,
}
OWN_SENTENCES = (
    "On Monday, Sam wrote:",
    "On Monday, Sam wrote: nothing at all.",
    "On 3 May Sam wrote that he comes.",
    "Am Montag schrieb Sam:",
    "Le lundi, Sam a écrit :",
    "El lunes Sam escribió:",
    "Em maio o Sam escreveu:",
    "在星期一，山姆写道：",
    "Sam wrote:",
    "From: Paris",
    "From: Paris, Date: 3 May, To: Rome",
    "Subject: what I said on Monday",
    "Sent: yes, this morning at 9:00",
    "Von: Berlin, nach: Rom",
    "I was sent from my office to yours.",
    "Sent from my office yesterday",
    "Get my iPhone",
    "Von meinem Bruder gesendet",
    "The address is sam@example.com, at 9:00 on 23.11.2026.",
    "Write to sam@example.com:",
    "----- my notes -----",
    "________________________________",
    "--",
    "Original message: see above",
    "Please forward this to valet@example.org",
    "A few things:",
    "In 2026 at 9:00 we wrote:",
)
"""What a person writes that looks like a mark."""
