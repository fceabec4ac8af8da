"""The line that a telephone or a program writes about itself below a mail, such as "Sent from my iPhone"; pure.

A line counts only if nothing stands in it but the phrase, devices, programs and small words between them: "Sent from my
office" is a sentence.
"""

import re

_MAX_LENGTH, _MAX_WORDS = 120, 12
_PHRASE = re.compile(
    r"(?:Sent (?:from|via|with|using)|Get(?= Outlook| BlueMail| Yahoo)|Von|Gesendet (?:von|mit|aus|über)"
    r"|Diese Nachricht wurde von|Envoyé (?:de|depuis|avec|via|à partir d[eu’'])|Télécharger(?= Outlook)"
    r"|Enviado (?:desde|do|da|com|con|a partir d[eo]|via)|Obtener(?= Outlook)|Obter(?: o)?(?= Outlook)"
    r"|Inviato (?:da|dal|con|tramite)|Verzonden (?:vanaf|met|via|vanuit)|Verstuurd (?:vanaf|met)|Wysłan[eo] z"
    r"|Отправлено (?:с|из|от)|Надіслано з|Skickat från|Sendt fra|Lähetetty|Odesláno z|Outlook(?= für))(?=\s|$)",
    re.IGNORECASE,
)
_DEVICES = """
iphone iphone'a ipad ipad'a ipod mac macbook watch android android-gerät android-mobiltelefon android-telefon
blackberry pixel samsung galaxy huawei xiaomi redmi oneplus motorola nokia sony htc lg windows ios handy phone
smartphone smartphones mobile tablet device mobilgerät mobiltelefon telefon téléphone portable móvil teléfono
celular telemóvel cellulare telefono telefoon mobiel mobil iphonesta puhelin телефона телефону айфона
"""
_PROGRAMS = """
outlook mail gmail yahoo aol proton protonmail tuta tutanota fastmail shortwave superhuman spark thunderbird k-9
mail.ru почты почта яндекс.почты gmx web.de zoho front canary hey bluemail email app
"""
_SMALL = """
my a an the your for on in by using via secure personal meinem meiner meinen einem der die das dem für mit von mon
ma mes mi mis un una mio mia il la meu minha o pour para con com avec de des du do da di per sur mijn een voor met
min mitt моего мое моей мой мобильного на для z ze mojego s mého apple vision plus pro max ultra mini se lte tab
"""
_NAMES = frozenset(f"{_DEVICES} {_PROGRAMS}".split())
_BETWEEN = frozenset(_SMALL.split())
_LAST = frozenset({"gesendet", "herunterladen", "lähetetty"})
_WHOLE = re.compile(
    r"(?:发自|来自|發自|來自)我的 ?(?:[a-z][\w -]{1,20}|手机|手機|华为\S{0,6}|小米\S{0,6})"
    r"|(?:发自|来自) ?(?:网易邮箱|QQ邮箱)\S{0,12}|获取 ?Outlook.{0,20}"
    r"|[a-z][\w -]{1,20}から送信(?:されました)?|(?:나의|내) [a-z][\w -]{1,20}에서 보냄"
    r"|Yahoo Mail: Search, Organi[sz]e, Conquer",
    re.IGNORECASE | re.ASCII,
)
_LINK = re.compile(r"\s?[<(\[]https?://[^\s<>()\[\]]{1,300}[>)\]]")


def is_device_line(line: str) -> bool:
    """Return whether a line is the signature of a device or a program."""
    said = _LINK.sub("", line.strip()[:500]).strip()
    if len(said) > _MAX_LENGTH:
        return False
    if _WHOLE.fullmatch(said):
        return True
    phrase = _PHRASE.match(said)
    if phrase is None:
        return False
    written = said[phrase.end() :].rstrip(".!").split()
    words = [word.strip(",").replace("\u2019", "'").lower() for word in written]
    names = [word in _NAMES for word in words]
    if not any(names) or len(words) > _MAX_WORDS or not (names[-1] or words[-1] in _LAST or _is_number(words[-1])):
        return False
    # The name of a maker or a carrier is written with a capital: "my Verizon, Samsung Galaxy smartphone".
    others = [word for word, name in zip(written, names, strict=True) if not name]
    return all(word.strip(",").lower() in _BETWEEN | _LAST or word[:1].isupper() or _is_number(word) for word in others)


def _is_number(word: str) -> bool:
    return any(char.isdigit() for char in word)
