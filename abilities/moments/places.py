"""The timezones of cities and countries, by their names in the product's languages."""

from functools import cache
from zoneinfo import available_timezones

from babel import Locale
from babel.core import get_global

_LOCALES = ("de", "es", "fr", "pt_PT", "zh")
_MORE = {
    "Europe/Berlin": "germany munich hamburg cologne frankfurt deutschland münchen köln alemania alemanha múnich"
    " munique hamburgo allemagne 德国 慕尼黑 法兰克福",
    "Europe/Paris": "france lyon marseille frankreich francia frança 法国",
    "Europe/London": "uk england großbritannien 英国",
    "Europe/Rome": "italy milan mailand milán milão italien italia itália italie 意大利",
    "Europe/Madrid": "spain barcelona valencia sevilla spanien españa espagne espanha 西班牙",
    "Europe/Lisbon": "lisboa portugal porto oporto 葡萄牙",
    "Europe/Zurich": "switzerland geneva basel schweiz zürich genf genève ginebra zúrich suisse 瑞士",
    "Europe/Vienna": "austria wien viena österreich vienne 奥地利",
    "Asia/Kolkata": "india delhi mumbai bangalore indien inde 印度",
    "Asia/Shanghai": "china beijing shenzhen guangzhou peking pekín pequim pékin chine 中国 北京 深圳 广州",
    "Asia/Tokyo": "japan osaka kyoto japón japão japon 日本 大阪 京都",
    "America/New_York": "nyc boston washington miami 波士顿",
    "America/Los_Angeles": "seattle california la 旧金山",
    "America/Chicago": "austin dallas houston texas",
    "America/Sao_Paulo": "brazil brasil brasilien brésil brasília brasilia",
}
_FAHRENHEIT = {"US", "BS", "BZ", "FM", "KY", "LR", "MH", "PW"}
_IN_WORDS = {
    "great britain": "Europe/London",
    "the uk": "Europe/London",
    "new delhi": "Asia/Kolkata",
    "new york city": "America/New_York",
    "san francisco": "America/Los_Angeles",
}


def zone_named(text: str) -> str:
    """Return the IANA name of a timezone or of a city's; empty if there is none."""
    return _zones().get(_plain(text), "")


def city_of(zone: str) -> str:
    """Return the city after which a timezone is named; empty if it has none."""
    area, _, city = zone.rpartition("/")
    return city.replace("_", " ") if area and not area.startswith("Etc") else ""


def counts_in_fahrenheit(zone: str) -> bool:
    """Return whether temperatures are given in Fahrenheit in a timezone."""
    return get_global("zone_territories").get(zone) in _FAHRENHEIT


@cache
def _zones() -> dict[str, str]:
    """Return the timezones by full name and by city; for two cities with the same name, the first zone."""
    names = sorted(available_timezones())
    zones = {_plain(name): name for name in names}
    for name in names:
        zones.setdefault(_plain(name.rpartition("/")[2]), name)
    for code in _LOCALES:
        for name, words in Locale.parse(code).time_zones.items():
            if "city" in words and name in names:
                zones.setdefault(_plain(words["city"]), name)
    for name, cities in _MORE.items():
        zones |= dict.fromkeys(cities.split(), name)
    return zones | _IN_WORDS


def _plain(name: str) -> str:
    return " ".join(name.lower().replace("_", " ").strip(" .,!?").split())
