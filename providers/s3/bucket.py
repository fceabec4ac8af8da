"""A bucket of any S3-compatible service, by three signed requests over the guarded client.

Source: docs.aws.amazon.com/AmazonS3, "Signature Calculations for the Authorization Header" (Signature Version 4).
By hand, because obstore would replace the 25 lines of `sign` only: the methods and the errors made ours would stay, and
its own HTTP client does not bound an answer.
"""

import hashlib
import hmac
from dataclasses import dataclass, field
from datetime import UTC, datetime
from urllib.parse import quote, urlsplit

from core.errors import ToolFailed
from core.files.blobs import checked_key
from core.files.types import MAX_BYTES
from core.http.guarded_client import GuardedClient, Limits
from core.http.types import HttpResponse

_SIGNED = "host;x-amz-content-sha256;x-amz-date"


@dataclass(frozen=True, slots=True)
class Bucket:
    """`endpoint` is the service's origin; the bucket is named in the path, which every service understands."""

    endpoint: str
    name: str
    region: str
    access_key: str
    secret_key: str = field(repr=False)
    prefix: str = ""


class S3Store:
    """Bytes in a bucket."""

    def __init__(self, bucket: Bucket) -> None:
        self._bucket = bucket
        limits = Limits(max_bytes=MAX_BYTES, redirects=0, total=60.0)
        self._client = GuardedClient(allowed_hosts=[urlsplit(bucket.endpoint).netloc], limits=limits)

    async def put(self, key: str, data: bytes) -> None:
        self._check(await self._request("PUT", key, data), 200)

    async def get(self, key: str) -> bytes | None:
        answer = await self._request("GET", key)
        if answer.status == 404:
            return None
        self._check(answer, 200)
        return None if answer.cut else answer.body

    async def delete(self, key: str) -> None:
        self._check(await self._request("DELETE", key), 200, 204, 404)

    async def sweep(self) -> None:
        """Do nothing: a service keeps nothing of a body that it did not get whole."""

    async def close(self) -> None:
        await self._client.close()

    async def _request(self, method: str, key: str, data: bytes = b"") -> HttpResponse:
        bucket = self._bucket
        path = quote(f"/{bucket.name}/{bucket.prefix}{checked_key(key)}", safe="/-_.~")
        headers = sign(bucket, method, path, data, datetime.now(UTC))
        try:
            return await self._client.request(method, bucket.endpoint + path, headers=headers, body=data or None)
        except ToolFailed as error:
            raise OSError("the store of files cannot be reached") from error

    @staticmethod
    def _check(answer: HttpResponse, *good: int) -> None:
        if answer.status not in good:
            raise OSError(f"the store of files answered {answer.status}")


def sign(bucket: Bucket, method: str, path: str, data: bytes, now: datetime) -> dict[str, str]:
    """Return the headers that sign a request without a query."""
    moment, digest = now.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ"), hashlib.sha256(data).hexdigest()
    host = urlsplit(bucket.endpoint).netloc
    request = [
        method,
        path,
        "",
        f"host:{host}\nx-amz-content-sha256:{digest}\nx-amz-date:{moment}\n",
        _SIGNED,
        digest,
    ]
    scope = f"{moment[:8]}/{bucket.region}/s3/aws4_request"
    told = "\n".join(["AWS4-HMAC-SHA256", moment, scope, hashlib.sha256("\n".join(request).encode()).hexdigest()])
    key = f"AWS4{bucket.secret_key}".encode()
    for step in scope.split("/"):
        key = hmac.digest(key, step.encode(), "sha256")
    signature = hmac.new(key, told.encode(), "sha256").hexdigest()
    credential = f"Credential={bucket.access_key}/{scope}"
    return {
        "Authorization": f"AWS4-HMAC-SHA256 {credential},SignedHeaders={_SIGNED},Signature={signature}",
        "x-amz-content-sha256": digest,
        "x-amz-date": moment,
    }
