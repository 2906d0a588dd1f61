"""Apache Kafka that asks who its clients are: listeners with logins and certificates, users, and rights by ACLs.

Listeners: `open`, plain text, whose nameless user may do all (the test's own); `login`, TLS and a login by PLAIN, SCRAM
or an unsigned token; `bare`, SCRAM in plain text; `certificate`, TLS with a client's certificate.
"""

from __future__ import annotations

import asyncio
import base64
import json
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trustme
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.protocol.admin import CreateAclsRequest_v1, DeleteAclsRequest_v1
from aiokafka.protocol.api import Request
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key

from streams.embedded import kafka
from streams.embedded.kafka_settings import JVM_OPTIONS, properties
from streams.embedded.ports import Ports
from streams.embedded.processes import HOST, folder_at
from streams.processors.rights import Right
from topics.connection import KafkaConnection, Password, Tls
from topics.operations import BITS

LISTENERS = ("open", "login", "bare", "certificate")
KINDS = {"topic": 2, "group": 3}
LITERAL, PREFIXED = 3, 4
ALLOW = 3
SETTLED = 10.0  # seconds until a change of rights is seen


class Files:
    """A certificate authority's certificate, and what it signed, as files in PEM format."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder, self._authority = folder, trustme.CA()
        self.ca = folder / "ca.pem"
        self._authority.cert_pem.write_to_path(str(self.ca))

    def signed(self, *names: str, common_name: str | None = None) -> tuple[Path, Path]:
        """Return a certificate with its chain, and its key in the format that Java reads."""
        made = self._authority.issue_cert(*names, common_name=common_name)
        stem = (common_name or names[0]).replace("/", "-")
        certificate, key = self._folder / f"{stem}.crt", self._folder / f"{stem}.key"
        certificate.write_bytes(b"".join(blob.bytes() for blob in made.cert_chain_pems))
        parsed = load_pem_private_key(made.private_key_pem.bytes(), None)
        key.write_bytes(parsed.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        return certificate, key


class SecuredKafka:
    """A running broker with users and their rights."""

    def __init__(self, ports: dict[str, int], files: Files) -> None:
        self._ports, self.files = ports, files

    def at(self, listener: str) -> str:
        """Return the address of a listener."""
        return f"{HOST}:{self._ports[listener]}"

    def as_user(self, user: str, *, mechanism: Any = "SCRAM-SHA-512", password: str | None = None) -> KafkaConnection:
        """Return the connection of a user over TLS."""
        login = Password(mechanism=mechanism, username=user, password=password or password_of(user))
        return KafkaConnection(bootstrap=self.at("login"), tls=Tls(ca=self.files.ca), login=login)

    async def grant(self, user: str, rights: Iterable[Right]) -> None:
        """Give a user rights."""
        await self._ask(_Grants([row for right in rights for row in _rows(user, right)]))

    async def take(self, user: str, right: Right) -> None:
        """Take a right away."""
        await self._ask(_Revocations(_rows(user, right)))

    async def _ask(self, request: Request[Any]) -> None:
        admin = AIOKafkaAdminClient(bootstrap_servers=self.at("open"))
        await admin.start()
        try:
            answer = await admin._send_to_controller(request)
            [outcomes] = [value for name, value in answer.to_object().items() if name != "throttle_time_ms"]
            assert all(each["error_code"] == 0 for each in outcomes), outcomes
        finally:
            await admin.close()


class _Grants(Request[CreateAclsRequest_v1]):
    API_KEY = 30

    def __init__(self, rows: list[tuple[Any, ...]]) -> None:
        self._rows = rows

    def build(self, request_struct_class: Any) -> Any:
        return request_struct_class(self._rows)


class _Revocations(Request[DeleteAclsRequest_v1]):
    API_KEY = 31

    def __init__(self, rows: list[tuple[Any, ...]]) -> None:
        self._rows = rows

    def build(self, request_struct_class: Any) -> Any:
        return request_struct_class(self._rows)


def _rows(user: str, right: Right) -> list[tuple[Any, ...]]:
    pattern = PREFIXED if right.begins else LITERAL
    return [
        (KINDS[right.kind], right.name, pattern, f"User:{user}", "*", BITS[operation], ALLOW)
        for operation in right.operations
    ]


def password_of(user: str) -> str:
    """Return a user's password."""
    return f"password of {user}"


def token_of(user: str, *, seconds: float = 600) -> str:
    """Return an unsigned token, such as Kafka takes where nothing else is set."""
    now = time.time()

    def part(fields: dict[str, Any]) -> str:
        return base64.urlsafe_b64encode(json.dumps(fields).encode()).decode().rstrip("=")

    return f"{part({'alg': 'none'})}.{part({'sub': user, 'iat': now, 'exp': now + seconds})}."


def _properties(data: Path, files: Files, ports: dict[str, int], *, controller: int, plain: Iterable[str]) -> str:
    certificate, key = files.signed(HOST, "localhost", common_name="broker")
    both = certificate.with_suffix(".pem")
    both.write_bytes(key.read_bytes() + certificate.read_bytes())
    module = "org.apache.kafka.common.security"
    users = " ".join(f'user_{user}="{password_of(user)}"' for user in plain)
    logins = {
        "login": {
            "PLAIN": f"{module}.plain.PlainLoginModule required {users};",
            "SCRAM-SHA-256": f"{module}.scram.ScramLoginModule required;",
            "SCRAM-SHA-512": f"{module}.scram.ScramLoginModule required;",
            "OAUTHBEARER": f'{module}.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="b";',
        },
        "bare": {"SCRAM-SHA-512": f"{module}.scram.ScramLoginModule required;"},
    }
    protocols = dict(
        zip(LISTENERS, ("PLAINTEXT", "SASL_SSL", "SASL_PLAINTEXT", "SSL"), strict=True), controller="PLAINTEXT"
    )
    addresses = ",".join(f"{name.upper()}://{HOST}:{port}" for name, port in ports.items())
    found = {
        "listeners": f"{addresses},CONTROLLER://{HOST}:{controller}",
        "advertised.listeners": addresses,
        "listener.security.protocol.map": ",".join(f"{name.upper()}:{each}" for name, each in protocols.items()),
        "inter.broker.listener.name": "OPEN",
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": both,
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": files.ca,
        "ssl.principal.mapping.rules": "RULE:^.*CN=([^,]+).*$/$1/,DEFAULT",
        "listener.name.certificate.ssl.client.auth": "required",
    }
    for listener, modules in logins.items():
        found[f"listener.name.{listener}.sasl.enabled.mechanisms"] = ",".join(modules)
        for mechanism, text in modules.items():
            found[f"listener.name.{listener}.{mechanism.lower()}.sasl.jaas.config"] = text
    kept = properties(data, port=ports["open"], controller_port=controller).splitlines()
    lines = [line for line in kept if line.partition("=")[0] not in found]
    return "\n".join([*lines, *(f"{name}={value}" for name, value in found.items()), ""])


@asynccontextmanager
async def running(folder: Path, users: Iterable[str]) -> AsyncIterator[SecuredKafka]:
    """Run a broker with these users, none of whom has a right; raise KafkaUnavailable."""
    jars = await kafka.prepare(lambda _: None)
    users = list(users)
    ports = Ports(folder_at(folder))
    here = {name: ports.take(name) for name in LISTENERS}
    controller = ports.take("controller")
    files = Files(folder / "files")
    text = _properties(folder / "data", files, here, controller=controller, plain=users)
    config = folder / "server.properties"
    config.write_text(text)
    scram = [
        f"--add-scram=SCRAM-SHA-{bits}=[name={user},password={password_of(user)},iterations=4096]"
        for user in users
        for bits in (256, 512)
    ]
    making = await asyncio.create_subprocess_exec(
        kafka._java(), *JVM_OPTIONS, "-cp", f"{jars}/*", "kafka.tools.StorageTool", "format",
        "-t", "cmFua3N0cmVhbS1vbmUtMQ", "-c", str(config), *scram,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    said, _ = await asyncio.wait_for(making.communicate(), 90)
    assert making.returncode == 0, said.decode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kafka, "properties", lambda *_, **__: text)
        server = await kafka.start(folder, jars=jars, port=here["open"], controller_port=controller, log=folder / "log")
    try:
        yield SecuredKafka(here, files)
    finally:
        await server.child.stop(10)
        ports.release()
