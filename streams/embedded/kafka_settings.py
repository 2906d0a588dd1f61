"""How the embedded Kafka is set: one small node, few threads, little memory."""

from pathlib import Path

from streams.embedded.processes import HOST

MESSAGE_BYTES = 8 * 1024 * 1024
JVM_OPTIONS = (
    "-Xms64m",
    "-Xmx256m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-XX:MaxMetaspaceSize=128m",
    "-XX:ReservedCodeCacheSize=48m",
    "-Xss512k",
    "-XX:-UsePerfData",
    "-XX:+ExitOnOutOfMemoryError",
    "-Djava.awt.headless=true",
)
LOGGING = """Configuration:
  status: error
  Appenders:
    Console: {name: out, PatternLayout: {pattern: "%d{ISO8601} %p %c{1} %m%n%throwable{5}"}}
  Loggers:
    Root: {level: warn, AppenderRef: [{ref: out}]}
"""


def properties(data: Path, *, port: int, controller_port: int) -> str:
    """The text of server.properties. Ports may differ from run to run; the data does not name them."""
    settings: dict[str, object] = {
        "process.roles": "broker,controller",
        "node.id": 1,
        "controller.quorum.voters": f"1@{HOST}:{controller_port}",
        "listeners": f"PLAINTEXT://{HOST}:{port},CONTROLLER://{HOST}:{controller_port}",
        "advertised.listeners": f"PLAINTEXT://{HOST}:{port}",
        "controller.listener.names": "CONTROLLER",
        "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
        "log.dirs": data,
        "auto.create.topics.enable": "false",
        "num.partitions": 4,
        "default.replication.factor": 1,
        "min.insync.replicas": 1,
        # Internal topics.
        "offsets.topic.replication.factor": 1,
        "offsets.topic.num.partitions": 4,
        "offsets.topic.segment.bytes": 16 * 1024 * 1024,
        "transaction.state.log.replication.factor": 1,
        "transaction.state.log.min.isr": 1,
        "transaction.state.log.num.partitions": 2,
        "share.coordinator.state.topic.replication.factor": 1,
        "share.coordinator.state.topic.min.isr": 1,
        "share.coordinator.state.topic.num.partitions": 2,
        # Consumer groups of one machine: join at once, leave soon after a crash.
        "group.initial.rebalance.delay.ms": 0,
        "group.min.session.timeout.ms": 1000,
        # Sizes.
        "message.max.bytes": MESSAGE_BYTES,
        "replica.fetch.max.bytes": MESSAGE_BYTES,
        "socket.request.max.bytes": 4 * MESSAGE_BYTES,
        "log.segment.bytes": 128 * 1024 * 1024,
        "log.index.size.max.bytes": 1024 * 1024,
        "log.cleaner.dedupe.buffer.size": 8 * 1024 * 1024,
        "log.cleaner.io.buffer.size": 128 * 1024,
        # Threads.
        "num.network.threads": 2,
        "num.io.threads": 2,
        "num.recovery.threads.per.data.dir": 2,
        "background.threads": 2,
        "log.cleaner.threads": 1,
        # A quorum of one has nobody to wait for or to show that it lives.
        "controller.quorum.append.linger.ms": 5,
        "metadata.max.idle.interval.ms": 0,
        # A broker that was killed is let back in after this.
        "broker.session.timeout.ms": 3000,
        "broker.heartbeat.interval.ms": 1000,
    }
    return "".join(f"{key}={value}\n" for key, value in settings.items())
