"""Slack: the app created from a manifest, its tokens proved, its secret checked against a signed request."""

import asyncio
import re
import time
from collections.abc import Callable

from channels.slack.manifest import SCOPES, manifest_yaml
from channels.slack.verify import is_signed
from core.errors import ConfigError, DeliveryError
from onevalet.channel_settings import check_tokens
from onevalet.init.dialogue import Dialogue, Option, Wrong
from onevalet.init.doorway import Doorway
from onevalet.init.draft import Draft
from providers.slack.client import SlackApi
from providers.slack.wire import WEBHOOK_PATH

NAMES = ("SLACK_BOT_TOKEN", "SLACK_APP_TOKEN", "SLACK_SIGNING_SECRET")
HOW = "slack"
"""The name of the question how events come."""
_WAYS = (
    Option("socket", "OneValet opens a socket to Slack: needs no public address"),
    Option("http", "Slack calls OneValet: needs a public https address"),
)
_STEPS = """\
  1. Open https://api.slack.com/apps?new_app=1, choose From a manifest, pick the workspace, YAML, and paste this:

{manifest}
  2. Create it, then Install App, Install to Workspace, Allow.
  3. OAuth & Permissions has the Bot User OAuth Token, which begins with xoxb-. Copy it."""
_SOCKET = """\
  4. Basic Information, App-Level Tokens, Generate: a token with the scope connections:write, which begins with xapp-.
  5. Socket Mode: switch it on."""
_HTTP = """\
  4. Event Subscriptions shows Verified beside the request URL, or has a Retry there: press it.
  5. Basic Information, App Credentials: Show the Signing Secret, and copy it."""


def set_up_slack(talk: Dialogue, draft: Draft, doorway: Doorway, ask_address: Callable[[], str]) -> None:
    """Ask until Slack knows the app's tokens, then save."""
    over_http = draft.has("SLACK_SIGNING_SECRET") and not draft.has("SLACK_APP_TOKEN")
    over_http = (over_http or talk.is_given("SLACK_SIGNING_SECRET")) and not talk.is_given("SLACK_APP_TOKEN")
    way = talk.choose(HOW, "How do messages come?", _WAYS, "http" if over_http else "socket")
    is_socket = way == "socket"
    url = "" if is_socket else ask_address()
    talk.say(_STEPS.format(manifest=manifest_yaml(url, socket_mode=is_socket)))
    api_url = draft.settings({}).slack_api_url
    bot, team = talk.ask_until(
        "SLACK_BOT_TOKEN",
        "Bot token",
        lambda answer: _prove_bot(draft, answer, api_url),
        default=draft.value("SLACK_BOT_TOKEN"),
        secret=True,
    )
    talk.say(f"  It is installed in {team}, with every scope.")
    values = dict.fromkeys(NAMES, "") | {"SLACK_BOT_TOKEN": bot}
    if is_socket:
        talk.say(_SOCKET)
        values["SLACK_APP_TOKEN"], _ = talk.ask_until(
            "SLACK_APP_TOKEN",
            "App-level token",
            lambda answer: _prove_socket(draft, bot, answer, api_url),
            default=draft.value("SLACK_APP_TOKEN"),
            secret=True,
        )
        talk.say("  Slack lets it open a socket.")
    else:
        talk.say(_HTTP)
        values["SLACK_SIGNING_SECRET"], is_proved = talk.ask_until(
            "SLACK_SIGNING_SECRET",
            "Signing secret",
            lambda answer: _prove_secret(doorway, answer),
            default=draft.value("SLACK_SIGNING_SECRET"),
            secret=True,
        )
        talk.say(
            "  Slack reached this machine, and its signature is right."
            if is_proved
            else "  Slack has not called yet, so the secret is not proved: the first message will show it."
        )
        values["PUBLIC_URL"] = url
    draft.save(values)


def _prove_bot(draft: Draft, token: str, api_url: str) -> str:
    """Return the workspace; raise `Wrong` for a token that Slack does not know, or that lacks a scope."""
    _check_shape(draft, "SLACK_BOT_TOKEN", token)
    try:
        team, granted = asyncio.run(_authenticate(token, api_url))
    except DeliveryError as error:
        raise Wrong(f"Slack does not take it ({error}): copy the Bot User OAuth Token again.") from error
    if missing := [scope for scope in SCOPES if scope not in granted]:
        raise Wrong(
            f"The app lacks {', '.join(missing)}: paste the manifest, reinstall the app, and copy the token again."
        )
    return team


def _prove_socket(draft: Draft, bot: str, token: str, api_url: str) -> None:
    _check_shape(draft, "SLACK_APP_TOKEN", token)
    try:
        asyncio.run(_open_socket(bot, token, api_url))
    except DeliveryError as error:
        raise Wrong(
            f"Slack opens no socket for it ({error}): is Socket Mode on, and the scope connections:write?"
        ) from error


def _prove_secret(doorway: Doorway, secret: str) -> bool:
    """Return whether a request signed with the secret has arrived; raise `Wrong` if a request has another signature."""
    if not re.fullmatch("[0-9a-f]{32}", secret):
        raise Wrong("A signing secret has 32 hexadecimal digits: copy it from Basic Information, App Credentials.")
    signed = [request for request in doorway.came_to(WEBHOOK_PATH) if "x-slack-signature" in request.headers]
    for request in signed:
        sent_at, signature = (request.headers.get(f"x-slack-{name}") for name in ("request-timestamp", "signature"))
        # Age does not matter: only the secret is checked.
        now = float(sent_at) if sent_at and sent_at.isdecimal() else time.time()
        if is_signed(secret, request.body, sent_at, signature, now):
            return True
    if signed:
        raise Wrong("Slack has signed its calls with another secret: copy the one of this app.")
    return False


def _check_shape(draft: Draft, name: str, token: str) -> None:
    try:
        check_tokens(draft.settings({name: token}))
    except ConfigError as error:
        raise Wrong(str(error)) from error


async def _authenticate(token: str, api_url: str) -> tuple[str, frozenset[str]]:
    api = SlackApi(bot_token=token, api_url=api_url)
    try:
        who, granted = await api.authenticate()
    finally:
        await api.close()
    return str(who.get("team")), granted


async def _open_socket(bot: str, token: str, api_url: str) -> None:
    api = SlackApi(bot_token=bot, api_url=api_url)
    try:
        await api.call("apps.connections.open", token=token)
    finally:
        await api.close()
