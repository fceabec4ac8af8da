"""What makes tests fail by chance, found in their source; `uv run -m tests.shipping.waits` brings its list up to date.

Of 768 commits, 63 mended tests that failed now and then. Their causes are the rules below, and what holds the others:

- Each test has a database of its own (`database_url`), each worker a Valkey database (`redis_url`) and ports from a
  range that no client is given (`tests.ports`); each folder is one of `tmp_path`.
- Tests that share a `dev`, a forker or a heavy library are in one xdist group, which `tests/test_groups.py` holds.
- What a test leaves open fails the run by `filterwarnings = error`, and `pytest_sessionfinish` looks for it; a client
  session, which would be collected in another test's time, fails its own (`tests/left_open.py`).
- Clocks stand still where a day or an hour counts (`tests/clocks.py`); a program's clock is the file of `clock_path`.
- What a call costs is counted in its own thread (`tests/counted.py`) or on a Postgres of its own
  (`tests/postgres_meter.py`), and never what is sent by the clock, such as heartbeats and polls.
- Examples of hypothesis have no time limit (the profile in `tests/conftest.py`). One that fails stays, as `@example`.
- What the product keeps in memory from one test to the next is listed in `tests/shipping/test_caches.py`.
- One limit, `timeout` in pyproject.toml, ends what hangs: no test has a shorter one of its own.
"""

import argparse
import ast
import re
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from tests.shipping.harness import ROOT, python_files

LIST = "tests/shipping/waits.toml"
SHORT = 30
"""Seconds below which a patience says how fast an idle machine is."""
SUITE = 300
"""The seconds that pytest gives each test: a mark may only give it more."""
_UNEXAMINED = frozenset({"tests/eventually.py", "tests/shipping/waits.py", "tests/shipping/test_waits.py"})
"""The one way to wait, and the files that name what is looked for."""

type Found = Iterator[tuple[int, str]]
"""Lines, and what stands there."""
type Nodes = dict[type[ast.AST], list[Any]]

_SLEEPERS = frozenset({"asyncio", "time", "anyio"})
_CLOCKS = frozenset({"monotonic", "perf_counter", "process_time", "thread_time", "time", "time_ns", "monotonic_ns"})
_WAITERS = frozenset(
    {"timeout", "wait_for", "wait", "join", "communicate", "expect", "urlopen", "recv", "ClientTimeout"}
)
_PATIENCE = frozenset({"timeout", "total", "within"})
_REACHES = frozenset(
    {"TCPSite", "bind", "connect", "connect_ex", "create_connection", "create_pool", "create_server", "from_url", "get"}
    | {"goto", "listen", "open_connection", "post", "put", "request", "serve", "start_server", "urlopen", "ws_connect"}
)
_HOST = r"(?:127\.0\.0\.1|localhost|0\.0\.0\.0|\[?::1?\]?)"
_LOCAL_PORT = re.compile(_HOST + r":(\d{4,5})\b")
_SHARED = re.compile(
    r"\bpg_(locks|database|roles|authid|prepared_xacts|replication_slots"
    r"|stat_(activity|bgwriter|checkpointer|database|io|replication|statements|wal))\b"
)
_OWN = re.compile(r"current_database\(\)|\bdatname\b|\bpid =|\brolname =|\b(usename|application_name) = (\$|'\{\}')")
"""What keeps a look to a test's own database, process or role; a fixed name of an application is everybody's."""
_GLOBAL_NAME = re.compile(r"\bcreate (?:role|user|database|tablespace) [a-z]\w*(?![\w{])", re.IGNORECASE)
_SHARED_FOLDER = re.compile(r"(/tmp|/var/tmp|/dev/shm)(/|$)")
_PROCESS_WIDE = frozenset(
    {"os.chdir", "os.putenv", "os.umask", "os.unsetenv", "random.seed", "socket.setdefaulttimeout", "time.tzset"}
    | {"locale.setlocale", "logging.basicConfig", "logging.disable", "structlog.configure", "sys.setrecursionlimit"}
    | {f"os.environ.{name}" for name in ("clear", "pop", "popitem", "setdefault", "update")}
)
_PROCESS_TABLES = frozenset({"os.environ", "sys.modules"})
_NOW = frozenset({"datetime.now", "datetime.utcnow", "date.today", "datetime.today", "time.time", "time.time_ns"})
_PID = re.compile(r"(.+_)?pids?|getpid")


def sleeps(source: str) -> Found:
    """Find waits for a while: the fact may come later, and on a quiet machine it came long before."""
    nodes = nodes_of(source)
    yield from ((call.lineno, ast.unparse(call)) for call in nodes[ast.Call] if _sleeps(call))
    yield from ((line, text.strip()) for line, text in _texts(nodes) if "pg_sleep(" in text)


def polls(source: str) -> Found:
    """Find loops that look and sleep, which `eventually` does with patience and says what it lacked."""
    nodes = nodes_of(source)
    for loop in [*nodes[ast.While], *nodes[ast.For]]:
        if (isinstance(loop, ast.While) or _counts(loop.iter)) and any(
            _pauses(call, loop) for call in _own_calls(loop)
        ):
            yield loop.lineno, ast.unparse(loop).partition("\n")[0]


def fixed_ports(source: str) -> Found:
    """Find ports by number that something listens on or asks, but none below 1024, where no test listens."""
    for call in nodes_of(source)[ast.Call]:
        named = [keyword for keyword in call.keywords if (keyword.arg or "").endswith("port")]
        yield from ((call.lineno, ast.unparse(keyword)) for keyword in named if _is_port(keyword.value))
        if _name(call.func) in _REACHES:
            given = [*call.args, *(keyword.value for keyword in call.keywords if keyword not in named)]
            flat = [part for value in given for part in (value.elts if isinstance(value, ast.Tuple) else [value])]
            yield from ((call.lineno, ast.unparse(part)) for part in flat if _is_port(part) or _names_port(part))
    for opened in nodes_of(source)[ast.withitem]:
        texts = [part for part in ast.walk(opened.context_expr) if _names_port(part)]
        yield from ((opened.context_expr.lineno, ast.unparse(text)) for text in texts)


def probed_ports(source: str) -> Found:
    """Find ports that outlive the socket that was bound to learn them: a client may be given them meanwhile."""
    for block in nodes_of(source)[ast.With]:
        if not any("socket" in ast.unparse(item.context_expr) for item in block.items):
            continue
        for kept in ast.walk(block):
            if isinstance(kept, ast.Assign | ast.Return) and kept.value is not None:
                said = ast.unparse(kept.value)
                if re.fullmatch(r"(int\()?\w+\.getsockname\(\)\[1\]\)?", said):
                    yield kept.lineno, said


def shared_counts(source: str) -> Found:
    """Find looks at what all workers of a run share: sessions, locks, databases, and what Valkey tells of itself."""
    nodes = nodes_of(source)
    for line, text in _texts(nodes):
        if _SHARED.search(text) and not _OWN.search(text):
            yield line, text.strip()
    for call in nodes[ast.Call]:
        if _name(call.func) in ("client_list", "config_resetstat") or _asks_info(call):
            yield call.lineno, ast.unparse(call)


def shared_names(source: str) -> Found:
    """Find roles and databases that are created by a fixed name, on a server where another worker does the same."""
    for line, text in _texts(nodes_of(source)):
        yield from ((line, name) for name in _GLOBAL_NAME.findall(text))


def short_patience(source: str) -> Found:
    """Find waits that end too soon on a busy machine, and tests with less time than the suite gives each."""
    for call in nodes_of(source)[ast.Call]:
        name = _name(call.func)
        limits = [word.value for word in call.keywords if word.arg == "within"]
        if name in _WAITERS:
            limits += [word.value for word in call.keywords if word.arg in _PATIENCE - {"within"}]
            limits += call.args[1:2] if name == "wait_for" else call.args[:1]
        if ast.unparse(call.func) == "pytest.mark.timeout":
            limits = [limit for limit in call.args if _is_number(limit) and limit.value < SUITE]
        else:
            limits = [limit for limit in limits if _is_number(limit) and 0 < limit.value < SHORT]
        if limits:
            yield call.lineno, ast.unparse(call).partition("\n")[0]


def measured_bounds(source: str) -> Found:
    """Find assertions that something takes less than a time, which is what a busy machine takes."""
    nodes = nodes_of(source)
    spans = {
        target.id
        for assigned in nodes[ast.Assign]
        for target in assigned.targets
        if isinstance(target, ast.Name) and _is_span(assigned.value, frozenset())
    }
    for asserted in nodes[ast.Assert]:
        for compared in ast.walk(asserted.test):
            if isinstance(compared, ast.Compare) and any(_is_span(upper, spans) for upper in _bounded(compared)):
                yield asserted.lineno, ast.unparse(compared)


def process_wide(source: str) -> Found:
    """Find changes of what other tests of the process have too, which `monkeypatch` takes back."""
    nodes = nodes_of(source)
    yield from ((call.lineno, ast.unparse(call)) for call in nodes[ast.Call] if ast.unparse(call.func) in _PROCESS_WIDE)
    for item in nodes[ast.Subscript]:
        if not isinstance(item.ctx, ast.Load) and ast.unparse(item.value) in _PROCESS_TABLES:
            yield item.lineno, ast.unparse(item)


def fixed_paths(source: str) -> Found:
    """Find files where another run has the same: a test's own folder is `tmp_path`."""
    yield from ((line, text) for line, text in _texts(nodes_of(source)) if _SHARED_FOLDER.match(text))


def unseeded_chance(source: str) -> Found:
    """Find chance that nobody can repeat: a test names the seed of its own `random.Random`."""
    for call in nodes_of(source)[ast.Call]:
        module, _, called = ast.unparse(call.func).partition(".")
        if module == "random" and called.isidentifier() and called != "seed" and (called != "Random" or not call.args):
            yield call.lineno, ast.unparse(call)


def read_clocks(source: str) -> Found:
    """Find assertions that read the machine's clock, which goes on and over midnight."""
    for asserted in nodes_of(source)[ast.Assert]:
        for call in ast.walk(asserted.test):
            if isinstance(call, ast.Call) and ast.unparse(call.func) in _NOW:
                yield asserted.lineno, ast.unparse(call)


def process_numbers(source: str) -> Found:
    """Find what knows a process by its number alone: numbers come again."""
    nodes = nodes_of(source)
    for asserted in nodes[ast.Assert]:
        compared = [node for node in ast.walk(asserted.test) if isinstance(node, ast.Compare)]
        if any(_compares_numbers(node) for node in compared):
            yield asserted.lineno, ast.unparse(asserted.test)
    for call in nodes[ast.Call]:
        if _name(call.func) == "pid_exists" or (
            ast.unparse(call.func) == "os.kill" and ast.unparse(call.args[-1]) == "0"
        ):
            yield call.lineno, ast.unparse(call)


def example_limits(source: str) -> Found:
    """Find time limits of hypothesis' examples, which tell nothing of the code."""
    for call in nodes_of(source)[ast.Call]:
        if _name(call.func) == "settings":
            limits = [word for word in call.keywords if word.arg == "deadline" and not _is_none(word.value)]
            yield from ((call.lineno, ast.unparse(limit)) for limit in limits)


@dataclass(frozen=True, slots=True)
class Rule:
    """A cause of failures by chance."""

    find: Callable[[str], Found]
    words: re.Pattern[str]
    """One of these is in every source that breaks the rule: others are not even parsed."""
    everywhere: bool = True
    """Whether programs and harnesses keep it too, or only files of tests."""


RULES: Mapping[str, Rule] = {
    "sleep": Rule(sleeps, re.compile(r"sleep\(|call_later\(|wait_for_timeout\(")),
    "poll": Rule(polls, re.compile(r"sleep\(|wait_for_timeout\(")),
    "port": Rule(fixed_ports, re.compile(r"port=\d{4}|" + _HOST + r"[\"']?[:,] ?\d{4}")),
    "probed-port": Rule(probed_ports, re.compile(r"getsockname\(\)")),
    "shared-count": Rule(shared_counts, re.compile(_SHARED.pattern + r"|\.info\(|INFO|client_list|config_resetstat")),
    "shared-name": Rule(shared_names, re.compile(r"create ", re.IGNORECASE)),
    "short-patience": Rule(
        short_patience, re.compile(r"within=\d|mark\.timeout|\b(" + "|".join(_WAITERS) + r")\(.*\d")
    ),
    "measured-bound": Rule(measured_bounds, re.compile(r"\b(now|" + "|".join(_CLOCKS) + r")\(")),
    "process-wide": Rule(
        process_wide,
        re.compile("|".join(re.escape(word) for word in _PROCESS_WIDE | _PROCESS_TABLES)),
        everywhere=False,
    ),
    "fixed-path": Rule(fixed_paths, re.compile(_SHARED_FOLDER.pattern)),
    "chance": Rule(unseeded_chance, re.compile(r"random\."), everywhere=False),
    "clock": Rule(read_clocks, re.compile(r"assert .*(now|time|today|time_ns)\(")),
    "process-number": Rule(process_numbers, re.compile(r"assert .*pid|pid_exists|os\.kill\(")),
    "example-limit": Rule(example_limits, re.compile(r"deadline=")),
}


@lru_cache(maxsize=1)
def nodes_of(source: str) -> Nodes:
    """Parse a file once for all its rules, which come one after another."""
    found: Nodes = defaultdict(list)
    for node in ast.walk(ast.parse(source)):
        found[type(node)].append(node)
    return found


@cache
def breaches() -> dict[str, dict[str, list[str]]]:
    """Return what breaks a rule, as lines of text by file and rule."""
    found: dict[str, dict[str, list[str]]] = {}
    for path, source in python_files("tests").items():
        rules = {} if path in _UNEXAMINED else _rules_for(path, source)
        each = {name: [f"{line}: {text}" for line, text in sorted(rule.find(source))] for name, rule in rules.items()}
        if broken := {name: lines for name, lines in each.items() if lines}:
            found[path] = broken
    return found


@dataclass(frozen=True, slots=True)
class Allowed:
    """How often a file may break a rule, and why."""

    count: int
    why: str


def allowed() -> dict[str, dict[str, Allowed]]:
    """Return what the list allows, by file and rule."""
    listed = tomllib.loads((ROOT / LIST).read_text(encoding="utf-8"))
    return {
        path: {rule: Allowed(entry["count"], entry["why"]) for rule, entry in rules.items()}
        for path, rules in listed.items()
    }


def renewed(found: Mapping[str, Mapping[str, list[str]]], *, raised: bool) -> dict[str, dict[str, Allowed]]:
    """Return the list with today's counts and the reasons as they are; a count grows only where `raised`."""
    listed = allowed()
    renewed: dict[str, dict[str, Allowed]] = {}
    for path, rules in found.items():
        for rule, lines in rules.items():
            before = listed.get(path, {}).get(rule, Allowed(0, ""))
            if count := len(lines) if raised else min(len(lines), before.count):
                renewed.setdefault(path, {})[rule] = Allowed(count, before.why)
    return renewed


def as_toml(listed: Mapping[str, Mapping[str, Allowed]]) -> str:
    """Write the list with its heading."""
    heading = "".join(f"{line}\n" for line in (ROOT / LIST).read_text(encoding="utf-8").splitlines() if line[:1] == "#")
    tables = [f'["{path}"]\n' + "".join(_entry(*rule) for rule in rules.items()) for path, rules in listed.items()]
    return "\n".join([heading, *tables])


def main() -> None:
    """Rewrite the list."""
    parser = argparse.ArgumentParser(prog="uv run -m tests.shipping.waits", description=main.__doc__)
    parser.add_argument("--raise", action="store_true", dest="raised", help="allow what is new too: add the reasons")
    (ROOT / LIST).write_text(as_toml(renewed(breaches(), raised=parser.parse_args().raised)), encoding="utf-8")


def _entry(rule: str, entry: Allowed) -> str:
    quoted = entry.why.replace("\\", "\\\\").replace('"', '\\"')
    return f'{rule} = {{ count = {entry.count}, why = "{quoted}" }}\n'


def _rules_for(path: str, source: str) -> dict[str, Rule]:
    of_tests = path.rpartition("/")[2].startswith("test_")
    return {name: rule for name, rule in RULES.items() if (rule.everywhere or of_tests) and rule.words.search(source)}


def _name(node: ast.expr) -> str:
    """Return the last name of a dotted one, which an alias of a module does not change."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _texts(nodes: Nodes) -> Iterator[tuple[int, str]]:
    """Yield all texts but docstrings; what is filled into one is {}."""
    inside = {id(part) for text in nodes[ast.JoinedStr] for part in text.values}
    inside |= {id(statement.value) for statement in nodes[ast.Expr]}
    for text in nodes[ast.Constant]:
        if isinstance(text.value, str) and id(text) not in inside:
            yield text.lineno, text.value
    for text in nodes[ast.JoinedStr]:
        parts = [part.value if isinstance(part, ast.Constant) else "{}" for part in text.values]
        yield text.lineno, "".join(str(part) for part in parts)


def _sleeps(call: ast.Call) -> bool:
    return _is_sleep(call) and not (call.args and isinstance(call.args[0], ast.Constant) and call.args[0].value == 0)


def _is_sleep(call: ast.Call) -> bool:
    name = _name(call.func)
    if isinstance(call.func, ast.Attribute) and name == "sleep":
        return _name(call.func.value) in _SLEEPERS
    return name in ("sleep", "call_later", "wait_for_timeout")


def _pauses(call: ast.Call, loop: ast.While | ast.For) -> bool:
    """Return whether a loop waits: `sleep(0)` in one that counts only lets others have a turn."""
    return _is_sleep(call) if isinstance(loop, ast.While) else _sleeps(call)


def _counts(iterated: ast.expr) -> bool:
    return isinstance(iterated, ast.Call) and _name(iterated.func) in ("range", "count", "repeat")


def _own_calls(loop: ast.While | ast.For) -> Iterator[ast.Call]:
    """Yield the calls of a loop, without those of loops and functions inside it."""
    left: list[ast.AST] = [*loop.body, *([loop.test] if isinstance(loop, ast.While) else [])]
    while left:
        node = left.pop()
        if isinstance(node, ast.Call):
            yield node
        if not isinstance(node, ast.While | ast.For | ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            left.extend(ast.iter_child_nodes(node))


def _is_port(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int and 1024 <= node.value < 65_536


def _names_port(node: ast.AST) -> bool:
    text = node.value if isinstance(node, ast.Constant) else ""
    return isinstance(text, str) and any(int(port) >= 1024 for port in _LOCAL_PORT.findall(text))


def _asks_info(call: ast.Call) -> bool:
    """Return whether Valkey is asked about itself; a logger's `info` names an event."""
    if _name(call.func) == "info":
        sections = ("commandstats", "stats", "clients", "memory", "keyspace", "server", "all", "everything")
        return not call.args or (isinstance(call.args[0], ast.Constant) and call.args[0].value in sections)
    first = call.args[0] if call.args else None
    return _name(call.func) == "execute_command" and isinstance(first, ast.Constant) and first.value == "INFO"


def _is_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float)


def _bounded(compared: ast.Compare) -> Iterator[ast.expr]:
    """Yield what has to be less than something else."""
    sides = [compared.left, *compared.comparators]
    for left, operator, right in zip(sides, compared.ops, sides[1:], strict=False):
        if isinstance(operator, ast.Lt | ast.LtE):
            yield left
        elif isinstance(operator, ast.Gt | ast.GtE):
            yield right


def _is_span(node: ast.expr, spans: set[str] | frozenset[str]) -> bool:
    """Return whether an expression is a difference of times that were measured, or a name that holds one."""
    parts = list(ast.walk(node))
    if any(isinstance(part, ast.Name) and part.id in spans for part in parts):
        return True
    differs = any(isinstance(part, ast.BinOp) and isinstance(part.op, ast.Sub) for part in parts)
    return differs and any(
        isinstance(part, ast.Call) and (_name(part.func) in _CLOCKS or ast.unparse(part.func) in _NOW) for part in parts
    )


def _compares_numbers(compared: ast.Compare) -> bool:
    """Return whether a process's number is compared with another; that of `psutil.Process(…)` only finds it."""
    sides = [compared.left, *compared.comparators]
    if any(_is_none(side) for side in sides):
        return False
    left: list[ast.AST] = [*sides]
    while left:
        node = left.pop()
        if isinstance(node, ast.Name | ast.Attribute) and _PID.fullmatch(_name(node)):
            return True
        if not (isinstance(node, ast.Call) and _name(node.func) == "Process"):
            left.extend(ast.iter_child_nodes(node))
    return False


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


if __name__ == "__main__":
    main()
