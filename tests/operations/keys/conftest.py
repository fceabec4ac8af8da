"""People who have credentials, as in the tests of the store."""

from tests.core.credentials.conftest import admin as admin
from tests.core.credentials.conftest import database as database
from tests.core.credentials.conftest import key as key
