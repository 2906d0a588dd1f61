"""What `rankstream check` looks at: each server, and each right there. Nothing of it is left anywhere."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np
import redis

from streams import settings
from streams.adapters import embedders, postgres, postgres_rights, postgres_roles, profiles, rerankers
from streams.adapters.chat import ChatModel
from streams.adapters.flag_reranker import FlagReranker
from streams.adapters.postgres_generations import PostgresGenerations
from streams.errors import ConfigurationError, Invalid, RankstreamError, Transient, Unreachable
from streams.gateways import permitted, servers
from streams.processors import store_roles
from streams.processors.rerank import RERANK
from streams.processors.rights import Right
from streams.settings import Settings
from topics import admin

SECONDS = 15.0  # for each check but these, which may read a model from disk
LOADING = ("embedder", "reranker")
LOAD_SECONDS = 120.0
OK, SKIPPED, FAILED, WRONG = "ok", "skipped", "failed", "wrong"
# Whose clients do not say where they looked; the others name their setting themselves.
SETTINGS = {
    "kafka": settings.KAFKA,
    "qdrant": settings.QDRANT,
    "redis": settings.REDIS,
    "language model": settings.LLM_URL,
    "reranker": settings.RERANKER,
    "telemetry": settings.TELEMETRY,
}


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What one check found: `wrong` where something must be changed, `failed` where somebody does not answer."""

    name: str
    state: str
    said: str = ""


class Checks:
    """The checks of one set of settings, for the users whose rights are wanted."""

    def __init__(
        self, found: Settings, wanted: Sequence[Right], roles: Sequence[str], users: Collection[str] = ()
    ) -> None:
        """`wanted`: rights on Kafka; `roles`: whose rights on Postgres; `users`: who is to work with these settings."""
        self._settings = found
        self._wanted = wanted
        self._roles = roles
        self._users = frozenset(users)

    async def run(self) -> list[Finding]:
        """Run all at the same time; return what each found, in one order."""
        checks: dict[str, Callable[[], Awaitable[Finding | None]]] = {
            "profiles": self._profiles,
            "kafka": self._kafka,
            "topics": self._topics,
            "rights on kafka": self._kafka_rights,
            "postgres": self._postgres,
            "rights on postgres": self._postgres_rights,
            "qdrant": self._qdrant,
            "redis": self._redis,
            "embedder": self._embedder,
            "language model": self._llm,
            "reranker": self._reranker,
            "tokens": self._tokens,
            "telemetry": self._telemetry,
        }
        return list(await asyncio.gather(*(_one(name, check) for name, check in checks.items())))

    async def _profiles(self) -> Finding | None:
        profiles.load(self._settings.profiles)
        embedders.known(self._settings.models)
        return None

    async def _kafka(self) -> Finding | None:
        kafka = settings.need(self._settings.kafka, settings.KAFKA)
        await servers.kafka(kafka)
        return Finding(name="kafka", state=OK, said=f"{kafka}, as {kafka.user}, {kafka.protocol}")

    async def _topics(self) -> Finding | None:
        if self._settings.kafka is None:
            return Finding(name="topics", state=SKIPPED, said=f"{settings.KAFKA} is not set")
        if differences := await admin.check(self._settings.kafka):
            said = "; ".join(map(str, differences))
            return Finding(name="topics", state=WRONG, said=f"{said}: `rankstream topics apply`")
        return None

    async def _kafka_rights(self) -> Finding | None:
        if self._settings.kafka is None:
            return Finding(name="rights on kafka", state=SKIPPED, said=f"{settings.KAFKA} is not set")
        try:
            missing = await permitted.lacking(self._settings.kafka, self._wanted)
        except Transient as error:
            if self._settings.kafka.named:
                raise
            return Finding(name="rights on kafka", state=SKIPPED, said=f"nobody logs in, and {error}")
        if missing:
            said = f"{self._settings.kafka.user} lacks {permitted.said(missing)}: `rankstream acls`"
            return Finding(name="rights on kafka", state=WRONG, said=said)
        return None

    async def _postgres(self) -> Finding | None:
        pool = await postgres.open_pool(settings.need(self._settings.postgres, settings.POSTGRES), size=1)
        try:
            if unready := await postgres_rights.unready(pool):
                return Finding(
                    name="postgres", state=WRONG, said=f"migrations: {'; '.join(unready)}: `rankstream topics apply`"
                )
        finally:
            await pool.close()
        return None

    async def _postgres_rights(self) -> Finding | None:
        if self._settings.postgres is None:
            return Finding(name="rights on postgres", state=SKIPPED, said=f"{settings.POSTGRES} is not set")
        if not self._roles:
            return Finding(name="rights on postgres", state=SKIPPED, said="these users need none")
        pool = await postgres.open_pool(self._settings.postgres, size=1)
        try:
            if await postgres_rights.unready(pool):
                return Finding(name="rights on postgres", state=SKIPPED, said="its migrations come first")
            name, found = await postgres_rights.user(pool), []
            if missing := await postgres_rights.lacking(pool, postgres_roles.of_roles(self._roles)):
                found.append(f"{name} lacks {postgres_rights.said(missing)}")
            if set(self._roles) & set(postgres_roles.ASKING) and (reason := await postgres_rights.unguarded(pool)):
                found.append(reason)
        finally:
            await pool.close()
        if found:
            said = f"{'; '.join(found)}: `rankstream acls --format postgres`"
            return Finding(name="rights on postgres", state=WRONG, said=said)
        return Finding(name="rights on postgres", state=OK, said=f"as {name}")

    async def _tokens(self) -> Finding | None:
        if self._settings.jwt is None:
            return Finding(name="tokens", state=SKIPPED, said=f"{settings.JWT_KEYS} is not set")
        from streams.gateways import tokens  # noqa: PLC0415  few wait for cryptography

        await tokens.check(self._settings.jwt)
        return None

    async def _telemetry(self) -> Finding | None:
        if self._settings.telemetry is None:
            return Finding(name="telemetry", state=SKIPPED, said=f"{settings.TELEMETRY} is not set")
        from streams.telemetry import otel  # noqa: PLC0415  slow to import

        await asyncio.to_thread(otel.check, self._settings.telemetry)
        return Finding(name="telemetry", state=OK, said=self._settings.telemetry)

    async def _qdrant(self) -> Finding | None:
        url = settings.need(self._settings.qdrant, settings.QDRANT)
        from streams.adapters.qdrant_errors import translated  # noqa: PLC0415  slow to import

        async with translated("list collections", SECONDS):
            await servers.qdrant(url, key=self._settings.qdrant_key, ca=self._settings.qdrant_ca)
        if self._users & store_roles.WRITE_VECTORS:
            async with translated("write", SECONDS):
                await servers.qdrant_takes(url, key=self._settings.qdrant_key, ca=self._settings.qdrant_ca)
        return None

    async def _redis(self) -> Finding | None:
        if self._settings.redis is None:
            return Finding(name="redis", state=SKIPPED, said=f"{settings.REDIS} is not set: no answer is kept")
        try:
            await servers.valkey_takes(self._settings.redis)
        except (redis.AuthenticationError, redis.exceptions.NoPermissionError, redis.ReadOnlyError) as error:
            raise ConfigurationError(str(error)) from error
        return None

    async def _embedder(self) -> Finding | None:
        live = None
        if self._settings.postgres is not None:
            try:
                pool = await postgres.open_pool(self._settings.postgres, size=1)
            except RankstreamError:
                pass  # told by the check of Postgres
            else:
                try:
                    live = await PostgresGenerations(pool=pool).find()
                except RankstreamError:
                    pass
                finally:
                    await pool.close()
        among = embedders.known(self._settings.models)
        main, also = embedders.wanted(live, main=self._settings.embedder, also=self._settings.embed_also, among=among)
        for model in (main, *also):
            embedder = await asyncio.to_thread(embedders.build, model.name, among)
            try:
                made = await embedder.embed_queries(["Does it work?"])
                if not np.isfinite(made).all():
                    raise ConfigurationError(f"{settings.EMBEDDER}: {model.name} gives vectors that are no numbers")
            finally:
                await embedder.close()
        return Finding(name="embedder", state=OK, said=", ".join(model.name for model in (main, *also)))

    async def _reranker(self) -> Finding | None:
        name, found = self._settings.reranker, self._settings.llm
        if name is None:
            return Finding(name="reranker", state=SKIPPED, said=f"{settings.RERANKER} is not set")
        if name == rerankers.LLM:
            if found is None:
                raise ConfigurationError(f"{name} needs {settings.LLM_URL} and {settings.LLM_MODEL}")
            return Finding(name="reranker", state=OK, said=f"by the language model, {found.model}")
        if RERANK.name not in self._users:
            return Finding(name="reranker", state=SKIPPED, said="these users load none")
        folder = await asyncio.to_thread(rerankers.downloaded, name)
        if folder is None:
            said = f"{name} is not on disk: `{RERANK.name}` fetches it when it starts"
            return Finding(name="reranker", state=SKIPPED, said=said)
        await (await asyncio.to_thread(FlagReranker, folder)).close()
        return Finding(name="reranker", state=OK, said=name)

    async def _llm(self) -> Finding | None:
        found = self._settings.llm
        if found is None:
            return Finding(name="language model", state=SKIPPED, said=f"{settings.LLM_URL} is not set")
        model = ChatModel(url=found.url, model=found.model, key=found.key)
        try:
            await model.complete("Answer with one word.", "Are you there?", max_tokens=8, seconds=SECONDS - 1)
        finally:
            await model.close()
        return Finding(name="language model", state=OK, said=found.model)


async def _one(name: str, check: Callable[[], Awaitable[Finding | None]]) -> Finding:
    """Run a check; whatever it raises is what it found."""
    try:
        async with asyncio.timeout(LOAD_SECONDS if name in LOADING else SECONDS):
            return await check() or Finding(name=name, state=OK)
    except TimeoutError:
        return Finding(name=name, state=FAILED, said=_named(name, "no answer in time"))
    except Exception as error:
        state = WRONG if _must_be_changed(error) else FAILED
        said = " ".join(str(error).split())[:400] or type(error).__name__
        return Finding(name=name, state=state, said=_named(name, said))


def _must_be_changed(error: Exception) -> bool:
    """Tell what is wrong from what does not answer, and may do so again."""
    if isinstance(error, Unreachable):
        return False
    if isinstance(error, admin.BrokerUnreachable):
        return isinstance(error, admin.BrokerRefuses)
    return isinstance(error, ConfigurationError | Invalid | admin.AdminError)


def _named(check: str, said: str) -> str:
    """Return what went wrong with the setting that says where."""
    setting = SETTINGS.get(check)
    return said if setting is None or setting in said else f"{setting}: {said}"
