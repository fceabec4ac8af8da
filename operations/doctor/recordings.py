"""The failures of models of recordings, which abilities check, each with its remedy."""

from core.errors import ModelAuthError, ModelOutOfQuota, ModelRejected, ModelTimeout


def explained(
    error: Exception, seconds: float, *, key: str, server: str, refused: tuple[str, str], answer: str
) -> tuple[str, str]:
    """Return the failure and its remedy, in words for an operator.

    `key`, `server`: the settings of either. `refused`: failure and remedy of a model that refuses. `answer`: the usual
    answer.
    """
    match error:
        case ModelOutOfQuota():
            return "its account is used up", "top up the account at the provider, or give another key"
        case ModelAuthError():
            return "the key is refused, or there is no such model", f"correct {key}, or the model's name"
        case ModelTimeout():
            return f"no answer within {seconds:g} s", f"see whether the server can be reached: {server}"
        case ModelRejected():
            return refused
    return f"does not answer with {answer}", f"see whether the server is away, or its address wrong: {server}"
