"""The pytest plugins of these tests, as one: for each `-p`, pytest looks through all packages that are installed."""

pytest_plugins = (
    "tests.cost",
    "tests.brief_reports",
    "tests.tiers",
    "tests.needs",
    "tests.model_group",
    "tests.by_chance.plugin",
    "tests.left_open",
    "tests.canary_watch",
    "tests.loopback.plugin",
    "tests.longest_first",
)
