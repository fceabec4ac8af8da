"""Chinese, in both scripts."""

from abilities.moments.words.words import MomentWords

_DIGITS = "一二三四五六七八九"
_O = "[点點时時](?![间間])"
_AGO = "(?:以?[后後]|之[后後])"

CHINESE = MomentWords(
    clocks=(
        (rf"<h>{_O}(?:[整钟鐘])?", 0),
        (rf"<h>{_O}零?<m>分?", 0),
        (rf"<h>{_O}零?<minutes>分", 0),
        (r"<h>:<m>", 0),
        (rf"<h>{_O}半", 30),
        (rf"<h>{_O}一刻", 15),
        (rf"<h>{_O}三刻", 45),
        (rf"差<to>分<h>{_O}", 0),
        (rf"<h>{_O}差<to>分", 0),
    ),
    parts={
        "早上|早晨|清晨|早|大清早": "morning",
        "上午": "forenoon",
        "中午|正午": "noon",
        "下午|午[后後]": "afternoon",
        "傍晚|黄昏": "evening",
        "晚上|晚[间間]|晚|夜晚|夜里|夜裡": "night",
        "深夜|半夜": "late night",
        "凌晨": "small hours",
        "午夜": "midnight",
    },
    parts_of_today={"今晚": "night", "今早|今晨": "morning", "今夜": "night"},
    days={
        "今天|今日|今(?=[早晚])": 0,
        "明天|明日|明(?=[早晚])": 1,
        "后天|後天": 2,
        "大后天|大後天": 3,
        "昨天|昨日": -1,
    },
    dates=(r"(?:<y>年)?<mm>月<d>[日号號]?",),
    weekdays={
        f"(?:周|週|星期|礼拜|禮拜){name}": day for name, day in zip([*"一二三四五六", "[日天]"], range(7), strict=True)
    },
    weeks={"下个?(?=周|週|星期|礼拜|禮拜)|下個(?=星期|禮拜)": 1, "(?:[这這本])个?(?=周|週|星期|礼拜|禮拜)": 0},
    numbers={
        **{digit: number for number, digit in enumerate(_DIGITS, 1)},
        "两|兩": 2,
        "零|〇": 0,
        "十": 10,
        **{f"十{digit}": number for number, digit in enumerate(_DIGITS, 11)},
        **{f"{ten}十": 10 * tens for tens, ten in enumerate("二三四五", 2)},
        **{
            f"{ten}十{digit}": 10 * tens + number
            for tens, ten in enumerate("二三四五", 2)
            for number, digit in enumerate(_DIGITS, 1)
        },
    },
    one="一",
    units={
        "秒[钟鐘]?": ("seconds", 1),
        "分[钟鐘]?": ("seconds", 60),
        "[个個]?(?:小[时時]|[钟鐘][头頭])": ("seconds", 3600),
        "天|日": ("days", 1),
        "[个個]?(?:星期|礼拜|禮拜)|周|週": ("days", 7),
        "[个個]月": ("months", 1),
        "年": ("months", 12),
    },
    spans={
        "半[个個]?(?:小[时時]|[钟鐘][头頭])": 30,
        "一刻[钟鐘]": 15,
        "三刻[钟鐘]": 45,
        "一[个個]半(?:小[时時]|[钟鐘][头頭])": 90,
        "[两兩][个個]半(?:小[时時]|[钟鐘][头頭])": 150,
    },
    from_now=_AGO,
    zones=("<place>(?:时间|時間)", "在<place>"),
    fillers="在|于|於|的|请",
    month_first=True,
)
