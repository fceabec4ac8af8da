"""The mail server of these tests."""

from tests.servers.dovecot import dovecot as dovecot
