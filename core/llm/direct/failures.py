"""What goes wrong in a call of our own, as one of our errors: the provider's refusals by way of litellm's mapping."""

from collections.abc import Iterator
from contextlib import contextmanager

import aiohttp

from core.errors import ModelTimeout, ModelUnavailable
from core.llm import litellm_library
from core.llm.direct.types import Plan, ProviderRefused
from core.llm.provider_errors import is_providers, our_error


@contextmanager
def errors_made_ours(plan: Plan) -> Iterator[None]:
    """Raise one of `core.errors.ModelError`, without the provider's words, for whatever a call raises."""
    try:
        yield
    except ProviderRefused as refused:
        error = plan.config.get_error_class(refused.text, refused.status, refused.headers)
        typed = litellm_library.typed_error(error, plan.call.model, plan.call.provider)
        raise our_error(typed) from typed
    except TimeoutError as error:  # aiohttp's are among them
        raise ModelTimeout(f"{plan.call.name}: {type(error).__name__}") from error
    except aiohttp.ClientError as error:
        raise ModelUnavailable(f"{plan.call.name}: {type(error).__name__}") from error
    except Exception as error:
        if not is_providers(error):
            raise
        raise ModelUnavailable(f"{plan.call.name}: {type(error).__name__}") from error


def unreadable(why: str) -> ValueError:
    """Return the error of an answer that is not whole."""
    return ValueError(why)
