"""Slack's side of the channel: the operator's manual steps there, and the checks of `doctor`.

A bot token can read neither the manifest nor the app's settings, and may change nothing there.
"""

from collections.abc import Sequence

from channels.slack.manifest import SCOPES, manifest_yaml
from core.errors import DeliveryError
from core.messaging.channels import Change, Check
from providers.slack.client import SlackApi

_UNSEEN = "not visible to a bot token"


async def setup_app(api: SlackApi, public_url: str, *, socket_mode: bool) -> Sequence[Change]:
    """Return the manual steps: texts to paste and switches to turn on; changes nothing at Slack. Never raises."""
    changes = [
        Change(
            "paste as the app's manifest (App Manifest)",
            _UNSEEN,
            manifest_yaml(public_url, socket_mode=socket_mode),
            by_hand=True,
        ),
        Change("switch on (Interactivity & Shortcuts)", _UNSEEN, "Interactivity", by_hand=True),
        Change("switch on (App Home)", _UNSEEN, "Home Tab; Messages Tab, with messages allowed", by_hand=True),
    ]
    if socket_mode:
        changes.append(Change("switch on (Socket Mode)", _UNSEEN, "Socket Mode", by_hand=True))
    else:
        # Without it an event that is two hours late is never sent; with it, hourly for a day (apis/events-api).
        changes.append(Change("switch on (Event Subscriptions)", _UNSEEN, "Delayed Events", by_hand=True))
    try:
        _, granted = await api.authenticate()
    except DeliveryError:
        return tuple(changes)
    if missing := _missing(granted):
        changes.append(
            Change("reinstall the app for its scopes (Install App)", " ".join(sorted(granted)), " ".join(missing), True)
        )
    return tuple(changes)


async def check_app(api: SlackApi, *, app_token: str) -> Sequence[Check]:
    """Check token, scopes, App Home and, with Socket Mode, the app-level token; never raises."""
    try:
        who, granted = await api.authenticate()
    except DeliveryError as error:
        fix = "check SLACK_BOT_TOKEN (it begins with xoxb-), and SLACK_API_URL if set"
        return (Check.failed("Slack bot token", error, str(error), fix),)
    checks = [
        Check("Slack bot token", ok=True, detail=f"{who.get('user')} in {who.get('team')} ({who.get('team_id')})")
    ]
    checks.append(_judge_scopes(granted))
    checks.append(
        Check(
            "Slack App Home",
            ok=True,
            detail=f"{_UNSEEN}: sending fails with messages_tab_disabled while the Messages Tab is off",
        )
    )
    if app_token:
        checks.append(await _check_app_token(api, app_token))
    return tuple(checks)


async def _check_app_token(api: SlackApi, app_token: str) -> Check:
    try:
        await api.call("apps.connections.open", token=app_token)
    except DeliveryError as error:
        fix = "check SLACK_APP_TOKEN (it begins with xapp-, scope connections:write) and switch Socket Mode on"
        return Check.failed("Slack Socket Mode", error, str(error), fix)
    return Check("Slack Socket Mode", ok=True, detail="a socket may be opened")


def _judge_scopes(granted: frozenset[str]) -> Check:
    missing = _missing(granted)
    if not missing:
        return Check("Slack scopes", ok=True, detail=f"all {len(SCOPES)} granted")
    fix = "run `channels setup`, paste the manifest, and reinstall the app"
    return Check("Slack scopes", ok=False, detail=f"missing: {' '.join(missing)}", fix=fix)


def _missing(granted: frozenset[str]) -> list[str]:
    return [scope for scope in SCOPES if scope not in granted]
