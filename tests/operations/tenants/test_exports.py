"""The link to a person's archive: good once, for minutes, and for one person."""

import io
from collections.abc import AsyncGenerator, AsyncIterator
from datetime import timedelta
from pathlib import Path
from zipfile import ZipFile

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from channels.http import readers
from channels.http.app import build_app
from core.errors import StoreUnavailable
from operations.tenants.export import Exporter
from operations.tenants.exports import ExportRoutes
from operations.tenants.links import MAX_LINKS, VALID, ExportLinks
from tests.core.credentials.harness import KEYS
from tests.core.harness import Store
from tests.eventually import eventually
from tests.operations.tenants.harness import Installation

type Browser = TestClient[web.Request, web.Application]


@pytest.fixture
async def installation(store: Store, tmp_path: Path) -> Installation:
    """Return an installation with two people."""
    made = Installation(store, tmp_path)
    await made.fill()
    await store.db.export_links.delete()
    return made


@pytest.fixture
async def browser(installation: Installation) -> AsyncIterator[Browser]:
    """Yield a browser at the gateway."""

    def load() -> Exporter:
        store = installation.store
        blobs, credentials = installation.files.blobs, installation.credentials
        return Exporter(store.database, blobs, installation.clock, "0.0.1", credentials, installation.accounts)

    routes = ExportRoutes(links(installation), load, installation.clock).routes()
    app = build_app([], ready=installation.store.database.ready, extra_routes=routes)
    async with TestClient(TestServer(app)) as client:
        yield client


def links(installation: Installation) -> ExportLinks:
    """Return what makes links whose path alone matters."""
    return ExportLinks(installation.store.database, "", KEYS)


async def link(installation: Installation, person: str) -> str:
    """Return a new link's path."""
    made = await links(installation).link(person, installation.clock.now())
    assert made is not None
    return made


async def test_a_link_gives_its_persons_archive_once(installation: Installation, browser: Browser) -> None:
    path = await link(installation, installation.ann)
    # A preview, by GET or HEAD, uses nothing up.
    assert (await browser.head(path)).status == 200
    shown = await browser.get(path)
    assert (shown.status, "Download" in await shown.text()) == (200, True)
    assert "default-src 'none'" in shown.headers["Content-Security-Policy"]
    answer = await browser.post(path)
    assert (answer.status, answer.content_type) == (200, "application/zip")
    assert answer.headers["Cache-Control"] == "no-store"
    with ZipFile(io.BytesIO(await answer.read())) as packed:
        assert packed.testzip() is None
        assert installation.ann.encode() in packed.read("tables/tenants.json")
        assert not any(installation.bob.encode() in packed.read(name) for name in packed.namelist())
    for again in (browser.post, browser.get):
        assert (await again(path)).status == 404
    audit = "select what from person_audit where tenant_id = $1 and what like 'export%' order by id"
    assert (await installation.store.column(audit, installation.ann))[-2:] == ["export_link", "exported"]


async def test_a_guessed_expired_or_foreign_link_gives_nothing(installation: Installation, browser: Browser) -> None:
    path = await link(installation, installation.ann)
    for wrong in (path[:-1], f"{path}x", "/export/x", f"/export/{installation.ann}", f"/export/{'a' * 5000}"):
        assert (await browser.get(wrong)).status in (404, 414, 400)
        assert (await browser.post(wrong)).status in (404, 414, 400)
    # Another page that knows the link cannot press its button.
    assert (await browser.post(path, headers={"Sec-Fetch-Site": "cross-site"})).status == 403
    # Bob's own link leads to Bob's data only, and leaves Ann's alone.
    bobs = await (await browser.post(await link(installation, installation.bob))).read()
    with ZipFile(io.BytesIO(bobs)) as packed:
        assert not any(installation.ann.encode() in packed.read(name) for name in packed.namelist())
    assert (await browser.get(path)).status == 200
    installation.clock.move(VALID)
    assert (await browser.get(path)).status == 404
    assert (await browser.post(path)).status == 404


async def test_two_presses_at_once_give_one_archive(installation: Installation) -> None:
    path = await link(installation, installation.ann)
    token, now = path.rpartition("/")[2], installation.clock.now()
    store = links(installation)
    assert await store.use(token, now)
    assert await store.use(token, now + timedelta(seconds=1)) is None


async def test_a_person_gets_so_many_links_a_day(installation: Installation) -> None:
    store, now = links(installation), installation.clock.now()
    given = [await store.link(installation.ann, now) for _ in range(MAX_LINKS + 1)]
    assert given[-1] is None
    assert None not in given[:-1]
    assert await store.link(installation.bob, now)
    assert await store.link(installation.ann, now + timedelta(days=1, seconds=1))


async def test_an_export_that_fails_midway_is_cut_not_ended(
    installation: Installation, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def pieces(_self: Exporter, _tenant: str) -> AsyncIterator[bytes]:
        yield b"PK" * 50_000
        raise StoreUnavailable("gone")

    monkeypatch.setattr(Exporter, "pieces", pieces)
    answer = await browser.post(await link(installation, installation.ann))
    with pytest.raises(Exception, match=r"(?i)payload|connection|disconnect|reset|transfer"):
        await answer.read()


class Endless:
    """A maker of archives, of which one person's has no end."""

    def __init__(self, person: str) -> None:
        self.person = person

    async def pieces(self, tenant_id: str) -> AsyncGenerator[bytes]:
        """Yield pieces."""
        yield b"begun"
        while tenant_id == self.person:
            yield bytes(1 << 20)


async def test_an_archive_that_is_not_taken_keeps_nobody_else_from_theirs(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = ExportRoutes(links(installation), lambda: Endless(installation.ann), installation.clock)
    app = build_app([], ready=installation.store.database.ready, extra_routes=made.routes())
    async with TestClient(TestServer(app)) as browser:
        held, second = (
            await browser.post(await link(installation, installation.ann)),
            await link(installation, installation.ann),
        )
        assert (await browser.post(second)).status == 503, "one of a person at a time"
        other = await browser.post(await link(installation, installation.bob))
        assert (other.status, await other.read()) == (200, b"begun")
        held.close()
        await eventually(lambda: not made._making, "the end of an archive that nobody takes")
        monkeypatch.setattr(readers, "GRACE", 0.0)
        monkeypatch.setattr(readers, "SLOWEST", 1 << 40)
        with pytest.raises(aiohttp.ClientError):
            await (await browser.post(second)).read()
        await eventually(lambda: not made._making, "the end of an archive that is taken too slowly")


async def test_a_page_speaks_its_persons_language_or_the_browsers(installation: Installation, browser: Browser) -> None:
    path, wanted = await link(installation, installation.ann), {"Accept-Language": "es"}
    for language, said in (("fr", "Télécharger"), ("", "Descargar")):
        await installation.store.db.tenants.change({"language": language})
        assert said in await (await browser.get(path, headers=wanted)).text()
    assert "Este enlace ya se usó" in await (await browser.get(f"{path}x", headers=wanted)).text()
