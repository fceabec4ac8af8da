"""The settings of people's files."""

import pytest

from onevalet.settings import Settings


@pytest.mark.parametrize(
    ("place", "endpoint", "bucket"),
    [
        ("s3://files", "https://s3.eu-central-1.amazonaws.com", ("files", "", "eu-central-1")),
        ("s3://files", "https://s3.dualstack.eu-west-1.amazonaws.com", ("files", "", "eu-west-1")),
        ("s3://files/a/b", "https://s3.us-west-004.backblazeb2.com", ("files", "a/b", "us-west-004")),
        ("s3://files", "https://s3.amazonaws.com", ("files", "", "us-east-1")),
        ("s3://files", "http://127.0.0.1:9000", ("files", "", "us-east-1")),
        ("s3://files/a?region=garage", "https://s3.store.example.org", ("files", "a", "garage")),
    ],
)
def test_the_region_is_read_from_the_endpoint_or_behind_the_bucket(
    place: str, endpoint: str, bucket: tuple[str, str, str]
) -> None:
    settings = Settings(
        _env_file=None,
        onevalet_files=place,
        onevalet_files_endpoint=endpoint,
        onevalet_files_key="key",
        onevalet_files_secret="secret",
    )
    assert settings.bucket == bucket
