"""A bucket: bytes in, out and gone, on a server with S3's interface; and signatures as AWS's library makes them."""

import asyncio
import logging
from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest

from providers.s3.bucket import Bucket, S3Store, sign

KEY = "te_1/" + "a" * 64 + "-blob_1"


@pytest.fixture
async def bucket() -> AsyncIterator[Bucket]:
    """Yield an empty bucket of a server on this machine."""
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    await asyncio.to_thread(server.start)
    host, port = server.get_host_and_port()
    made = Bucket(f"http://{host}:{port}", "valet-files", "us-east-1", "key", "secret", "people/")
    store = S3Store(made)
    answer = await store._client.request("PUT", f"{made.endpoint}/{made.name}", headers={})
    assert answer.status == 200
    await store.close()
    yield made
    await asyncio.to_thread(server.stop)


@pytest.mark.xdist_group("s3")  # moto takes seconds to load: once is enough
async def test_what_is_put_is_got_and_what_is_deleted_is_gone(bucket: Bucket) -> None:
    store = S3Store(bucket)
    data = bytes(range(256)) * 4096
    assert await store.get(KEY) is None
    await store.put(KEY, data)
    await store.put(KEY, data)
    assert await store.get(KEY) == data
    await store.delete(KEY)
    await store.delete(KEY)
    assert await store.get(KEY) is None
    await store.close()


@pytest.mark.xdist_group("s3")  # moto takes seconds to load: once is enough
async def test_a_bucket_that_is_not_there_or_away_is_an_error_to_try_again(bucket: Bucket) -> None:
    for other in (
        Bucket(bucket.endpoint, "nobodys", "us-east-1", "key", "secret"),
        Bucket("http://127.0.0.1:9", "valet-files", "us-east-1", "key", "secret"),
    ):
        store = S3Store(other)
        with pytest.raises(OSError, match="the store of files"):
            await store.put(KEY, b"x")
        await store.close()


@pytest.mark.parametrize("key", ["../x/y", "a/../b", "/a/b", "a", "a/b c", "a/b%2e", "a//b", "a/b\n"])
async def test_no_other_key_becomes_an_address(key: str) -> None:
    store = S3Store(Bucket("http://127.0.0.1:9", "b", "r", "k", "s"))
    with pytest.raises(ValueError, match="no key of a stored file"):
        await store.get(key)
    await store.close()


@pytest.mark.parametrize(("method", "data"), [("PUT", b"words"), ("GET", b""), ("DELETE", b"")])
def test_requests_are_signed_as_by_aws_itself(method: str, data: bytes) -> None:
    from botocore.auth import S3SigV4Auth
    from botocore.awsrequest import AWSRequest
    from botocore.credentials import Credentials

    bucket = Bucket("https://s3.eu-central-1.amazonaws.com", "valet-files", "eu-central-1", "AKIAEXAMPLE", "se/cret")
    path = f"/valet-files/{KEY}"
    ours = sign(bucket, method, path, data, datetime.now(UTC))
    theirs = AWSRequest(method, bucket.endpoint + path, data=data)
    theirs.context["payload_signing_enabled"] = True
    signer = S3SigV4Auth(Credentials(bucket.access_key, bucket.secret_key), "s3", bucket.region)
    theirs.headers["X-Amz-Date"] = ours["x-amz-date"]
    theirs.headers["X-Amz-Content-SHA256"] = ours["x-amz-content-sha256"]
    theirs.context["timestamp"] = ours["x-amz-date"]
    signature = signer.signature(signer.string_to_sign(theirs, signer.canonical_request(theirs)), theirs)
    assert ours["Authorization"].endswith(f"Signature={signature}")
