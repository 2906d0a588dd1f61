"""Stores over TLS: the servers themselves, behind an end of TLS as a cluster has it."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import redis.asyncio

from streams import settings
from streams.adapters import qdrant
from streams.embedded.stack import Stack
from streams.errors import ConfigurationError
from streams.gateways import servers
from tests.integration.security.broker import Files


@asynccontextmanager
async def tls(to: str, files: Files, *names: str) -> AsyncIterator[str]:
    """Take connections over TLS, with a certificate of these names, and hand on what they say; give host:port."""
    certificate, key = files.signed(*names)
    own = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    own.load_cert_chain(certificate, key)
    host, port = urlsplit(to).hostname, urlsplit(to).port

    async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(65_536):
                writer.write(data)
                await writer.drain()
        except OSError:
            pass
        finally:
            writer.close()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there = await asyncio.open_connection(host, port)
        await asyncio.gather(copy(reader, there[1]), copy(there[0], writer))

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=own)
    try:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()


async def test_qdrant_is_reached_by_https_where_its_ca_is_given(stack: Stack, tmp_path: Path) -> None:
    files = Files(tmp_path)
    async with tls(stack.endpoints.qdrant, files, "127.0.0.1") as at:
        found = settings.given({settings.QDRANT: f"https://{at}", settings.QDRANT_CA: str(files.ca)})
        assert found.qdrant is not None
        client = await qdrant.open_client(found.qdrant, ca=found.qdrant_ca)
        await client.close()
        await servers.qdrant(found.qdrant, key=None, ca=found.qdrant_ca)
        with pytest.raises(ConfigurationError, match=r"QDRANT_URL: .*CERTIFICATE_VERIFY_FAILED"):
            await qdrant.open_client(found.qdrant)
    async with tls(stack.endpoints.qdrant, files, "elsewhere.example.org") as at:
        with pytest.raises(ConfigurationError, match="QDRANT_URL"):
            await qdrant.open_client(f"https://{at}", ca=files.ca)


async def test_redis_is_reached_by_tls_with_a_password_of_a_file(stack: Stack, tmp_path: Path) -> None:
    files = Files(tmp_path)
    (tmp_path / "password").write_text("p/w d\n")
    plain = redis.asyncio.from_url(stack.endpoints.redis)
    await plain.execute_command("ACL", "SETUSER", "kept", "on", ">p/w d", "+@all", "~*")
    given = {settings.REDIS_CA: str(files.ca), settings.REDIS_PASSWORD_FILE: str(tmp_path / "password")}
    try:
        async with tls(stack.endpoints.redis, files, "127.0.0.1") as at:
            found = settings.given({settings.REDIS: f"rediss://kept@{at}/0", **given}).redis
            assert found is not None
            await servers.valkey(found)
            (tmp_path / "password").write_text("guessed")
            wrong = settings.given({settings.REDIS: f"rediss://kept@{at}/0", **given}).redis
            assert wrong is not None
            with pytest.raises(redis.AuthenticationError):
                await servers.valkey(wrong)
            with pytest.raises(redis.ConnectionError, match="certificate verify failed"):
                await servers.valkey(f"rediss://{at}/0")
        async with tls(stack.endpoints.redis, files, "elsewhere.example.org") as at:
            elsewhere = settings.given({settings.REDIS: f"rediss://{at}/0", settings.REDIS_CA: str(files.ca)}).redis
            assert elsewhere is not None
            with pytest.raises(redis.ConnectionError, match="certificate verify failed"):
                await servers.valkey(elsewhere)
    finally:
        await plain.execute_command("ACL", "DELUSER", "kept")
        await plain.aclose()
