"""All our errors, in a tree.

    OneValetError
      ConfigError                 the operator must change a setting; exit code 2
      StoreUnavailable            Postgres cannot be reached now; a webhook answers 503
      LeaseLost                   another worker took over; stop, write nothing
        Halted                    all work is halted; stop before the next step, hand back
      TurnDelayed                 a check could not tell; the turn waits and is tried again
        ModelAway                 no model answers; its lane is given back, and it is tried again
      RequestRefused              a request that is not the provider's, or not well-formed; 4xx
      DeliveryError               a part could not be delivered, or may not have been
        RateLimited               not accepted; try again after `retry_after`
        Unavailable               not accepted; try again with backoff
        Ambiguous                 may have been accepted; look it up, never resend blindly
        Rejected                  this part can never be sent as it is; final
          CredentialsRejected     our token or number is wrong; final, and the operator is told
          Unreachable             this person cannot be reached here (blocked, deactivated); final
            OptedOut              this person said STOP; final
      ModelError                  a model call failed
        ModelRateLimited          try again after `retry_after`
        ModelTimeout              no answer in time
        ModelAuthError            this key does not open it
          ModelOutOfQuota         its account has nothing left
        ContextOverflow           the request is longer than the model takes
        ModelUnavailable          anything else that may pass
        ModelRejected             this request will never be taken
      ToolError                   the model gets it as the call's result
        ToolRetry                 the model may call again with better arguments
        ToolFailed                the model must go on without
          AccountMissing          no connected account can do this yet; the person is sent a link

Messages are for the log, with ids and causes; sentences for people are written by the room that says them.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

_LATE = ("Timeout", "TimedOut")
"""Words by which libraries name errors of time: their classes have no base in common, and few derive from Python's."""


def took_too_long(error: BaseException) -> bool:
    """Return whether an error, or its cause, is a timeout."""
    seen: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen:
        if any(word in kind.__name__ for kind in type(cause).__mro__ for word in _LATE):
            return True
        seen.add(id(cause))
        cause = cause.__cause__ or cause.__context__
    return False


class OneValetError(Exception):
    """The base of all our errors."""


class ConfigError(OneValetError):
    """A setting is missing or wrong; the message is a sentence with the fix."""


class StoreUnavailable(OneValetError):
    """Postgres cannot be reached now."""


class LeaseLost(OneValetError):
    """The lease on the lane is another worker's by now."""


class Halted(LeaseLost):
    """All work is halted: the work stops where it is, is handed back, and goes on after the halt."""


class FactsChanged(OneValetError):
    """The facts behind a decision have changed: nothing was written; read them again and decide."""


class TurnDelayed(OneValetError):
    """A check could not tell whether this turn may run: it is neither refused nor let pass."""


class ModelAway(TurnDelayed):
    """No model answers now: the turn has given back its lane and is tried again, at `due` if that is known.

    `told`: its person is being told.
    """

    def __init__(self, message: str, *, told: bool = False, due: datetime | None = None) -> None:
        super().__init__(message)
        self.told = told
        self.due = due


class RequestRefused(OneValetError):
    """A request from outside that we do not take: forged, or not well-formed."""

    def __init__(self, reason: str, status: int = 400) -> None:
        super().__init__(reason)
        self.reason = reason
        self.status = status


class DeliveryError(OneValetError):
    """A part was not sent, or may not have been. `code` is the provider's own."""

    retryable = False

    def __init__(self, message: str, code: str = "") -> None:
        super().__init__(message)
        self.code = code


class RateLimited(DeliveryError):
    """The provider did not take it and says when to come back."""

    retryable = True

    def __init__(self, message: str, code: str = "", retry_after: timedelta | None = None) -> None:
        super().__init__(message, code)
        self.retry_after = retry_after


class Unavailable(DeliveryError):
    """The provider did not take it and may take it later."""

    retryable = True


class Ambiguous(DeliveryError):
    """The answer was lost after the request left: it may have been accepted."""


class Rejected(DeliveryError):
    """The provider refuses this part for good."""


class CredentialsRejected(Rejected):
    """The provider refuses our credentials or our sender."""


class Unreachable(Rejected):
    """This person cannot be reached at this address any more."""


class OptedOut(Unreachable):
    """This person opted out."""


class ModelError(OneValetError):
    """A model call failed."""


class ModelRateLimited(ModelError):
    """The model's provider asks us to wait."""

    def __init__(self, message: str, retry_after: timedelta | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class ModelTimeout(ModelError):
    """The model did not answer in time."""


class ModelAuthError(ModelError):
    """The model's provider refuses this key."""


class ModelOutOfQuota(ModelAuthError):
    """The account of this key has no money or quota left; waiting does not help."""


class ContextOverflow(ModelError):
    """The request is longer than the model takes."""


class ModelUnavailable(ModelError):
    """The model's provider failed in a way that may pass."""


class ModelRejected(ModelError):
    """The model's provider will never take this request."""


@dataclass(frozen=True, slots=True)
class RefusedLogin:
    """An account whose service refuses its password or its grant. `need` was the requested access."""

    need: str
    service: str
    account: str
    secret: str = field(repr=False)


class ToolError(OneValetError):
    """A tool's own failure; its message goes to the model and may reach the person, so it must hold no secrets.

    `note` is for the model alone: advice on its next step. `refused`: a service no longer accepts the account's
    password or grant; the call waits until its person has renewed it.
    """

    def __init__(self, message: str = "", *, note: str = "", refused: RefusedLogin | None = None) -> None:
        super().__init__(*([message] if message else []))
        self.note = note
        self.refused = refused


class ToolRetry(ToolError):
    """The model may call the tool again with better arguments."""


class ToolFailed(ToolError):
    """The tool cannot do it; the model goes on without."""


class AccountMissing(ToolFailed):
    """No connected account can do this: the person has none, or theirs allows too little.

    `need` is the required access, as in `AccountAccess.open`; `account` names the account that allows too little.
    """

    def __init__(self, message: str, need: str, account: str | None = None) -> None:
        super().__init__(message)
        self.need = need
        self.account = account
