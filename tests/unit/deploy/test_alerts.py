"""Dashboards and alerts ask for what there is, and each alert has a runbook that names what there is."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import promql_parser
import pytest
import yaml

from deploy import alerts, dashboards, tools
from deploy.alerts import Alert
from streams.cli.main import COMMANDS, rankstream
from streams.processors import catalogue
from streams.telemetry import calls, instruments
from topics import catalogue as topics

ROOT = Path(__file__).parents[3]
RUNBOOKS = (ROOT / alerts.RUNBOOKS).read_text()
# Of the collector: which process a series is of. `le` is of histograms.
OF_PROCESS = {"job", "instance", "le"}
# What others tell, with the labels that are asked for.
OTHERS = {
    # danielqsj/kafka_exporter, which Strimzi deploys as well
    "kafka_consumergroup_lag": {"consumergroup"},
    "kafka_consumergroup_current_offset": {"consumergroup"},
    "kafka_consumergroup_members": {"consumergroup"},
    "kafka_topic_partition_current_offset": {"topic"},
    "kafka_topic_partition_under_replicated_partition": {"topic"},
    "kafka_brokers": set(),
    # the collector's exporter: what a process's resource says
    "target_info": {"job", "instance", "service_version"},
    # kube-state-metrics
    "kube_pod_container_status_restarts_total": {"container", "pod"},
    "kube_pod_container_resource_limits": {"container", "pod", "namespace", "resource"},
    # kubelet and cAdvisor
    "kubelet_volume_stats_used_bytes": {"persistentvolumeclaim"},
    "kubelet_volume_stats_capacity_bytes": {"persistentvolumeclaim"},
    "container_memory_rss": {"container", "pod", "namespace"},
}
OURS = {name: instrument for instrument in instruments.ALL for name in instrument.exported}
EXPRESSIONS = [*(alert.expr for alert in alerts.ALL), *dashboards.expressions()]


@dataclass(frozen=True)
class Asked:
    """A metric in an expression, with its matchers, and the labels by which what holds it is summed up."""

    metric: str
    matchers: tuple[tuple[str, str, str], ...]  # label, operator, value
    by: frozenset[str]


def asked(expression: str) -> list[Asked]:
    """Return what an expression asks for; raise for one that is no PromQL."""
    return list(_asked(promql_parser.parse(expression), frozenset()))


def _asked(node: Any, by: frozenset[str]) -> Iterator[Asked]:
    if isinstance(node, promql_parser.VectorSelector):
        matchers = tuple((each.name, str(each.op), each.value) for each in node.matchers.matchers)
        yield Asked(node.name, matchers, by)
        return
    if isinstance(node, promql_parser.AggregateExpr) and node.modifier is not None:
        by = by | frozenset(node.modifier.labels)
    children = [getattr(node, name, None) for name in ("expr", "lhs", "rhs", "param", "vector_selector")]
    for child in [*children, *getattr(node, "args", ())]:
        if child is not None:
            yield from _asked(child, by)


def known_labels(metric: str) -> set[str]:
    if metric in OTHERS:
        return OTHERS[metric]
    return {re.sub(r"\W", "_", name) for name in OURS[metric].names} | OF_PROCESS


def known_values(metric: str, label: str) -> frozenset[str] | None:
    """Return all values that a label of ours can have; none where that is not known."""
    if metric not in OURS or label in OF_PROCESS:
        return None
    names = {
        "processor": {each.name for each in catalogue.ALL},
        "operation": calls.OPERATIONS,
        "messaging_consumer_group_name": {each.group for each in catalogue.ALL},
    }
    [found] = [each for each in OURS[metric].labels if re.sub(r"\W", "_", each.name) == label]
    return frozenset(names[label]) if found.values is None else found.values


def wrong(expression: str) -> list[str]:
    """Return what is asked for in an expression and does not exist."""
    found = []
    for each in asked(expression):
        if each.metric not in OURS and each.metric not in OTHERS:
            found.append(f"no metric {each.metric}")
            continue
        labels = known_labels(each.metric)
        found += [f"{each.metric} has no label {label}" for label in sorted(each.by - labels)]
        for label, operator, value in each.matchers:
            if label not in labels:
                found.append(f"{each.metric} has no label {label}")
            elif (values := known_values(each.metric, label)) is not None:
                parts = value.split("|") if "~" in operator or "Re" in operator else [value]
                found += [f"{each.metric}: {label} is never {part!r}" for part in parts if part not in values]
    return found


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_what_is_asked_is_promql_about_metrics_labels_and_values_that_there_are(expression: str) -> None:
    assert asked(expression)
    assert wrong(expression) == []


@pytest.mark.parametrize(
    ("expression", "says"),
    [
        ("rate(rankstream_freshness_bucket[5m])", "no metric rankstream_freshness_bucket"),
        ("rankstream_dead_letters", "no metric rankstream_dead_letters"),
        ("sum by (tenant) (rankstream_ready)", "rankstream_ready has no label tenant"),
        ('rankstream_ready{stage="fuse"}', "rankstream_ready has no label stage"),
        ('rankstream_ready{processor="fuze"}', "rankstream_ready: processor is never 'fuze'"),
        (
            'x or sum(rate(rankstream_question_duration_seconds_count{result=~"answered|nice"}[5m]))',
            "rankstream_question_duration_seconds_count: result is never 'nice'",
        ),
    ],
)
def test_what_does_not_exist_is_found_wherever_it_stands(expression: str, says: str) -> None:
    assert says in wrong(expression)


def test_what_is_no_promql_is_found() -> None:
    with pytest.raises(ValueError, match="unclosed"):
        asked("sum by (rate(x[5m])")


def test_every_metric_of_ours_is_on_a_dashboard() -> None:
    shown = {each.metric for expression in dashboards.expressions() for each in asked(expression)}
    missing = [instrument.name for instrument in instruments.ALL if not instrument.exported & shown]
    # How long a run of the probe takes is told, and only that it ran is shown; its age is an alert.
    assert missing == ["rankstream.probe.age"]


def test_there_are_at_most_five_dashboards_and_their_panels_do_not_lie_on_each_other() -> None:
    assert len(dashboards.ALL) <= 5
    for path, text in dashboards.files().items():
        made = json.loads(text)
        taken = set[tuple[int, int]]()
        assert len(made["panels"]) <= 16, path
        for panel in made["panels"]:
            at = panel["gridPos"]
            assert at["x"] + at["w"] <= dashboards.WIDTH
            cells = {(at["x"] + x, at["y"] + y) for x in range(at["w"]) for y in range(at["h"])}
            assert not cells & taken, (path, panel["title"])
            taken |= cells
            assert panel["targets"], (path, panel["title"])


def test_both_files_of_alerts_say_the_same() -> None:
    plain, kubernetes = (yaml.safe_load((ROOT / file).read_text()) for file in alerts.files())
    assert plain["groups"] == kubernetes["spec"]["groups"]
    assert [rule["alert"] for group in plain["groups"] for rule in group["rules"]] == [each.name for each in alerts.ALL]


def promtool(folder: Path, rules: str) -> subprocess.CompletedProcess[str]:
    """Have Prometheus' own tool run the tests of alerts on rules."""
    program = tools.FOLDER / "bin" / "promtool"
    if not program.exists():
        pytest.skip("promtool is not here: `make tools ARGS=promtool` builds it, in minutes")
    (folder / "rules.yaml").write_text(rules)
    (folder / "tests.yaml").write_text((Path(__file__).parent / "alerts.test.yaml").read_text())
    return subprocess.run(
        [program, "test", "rules", "tests.yaml"], cwd=folder, capture_output=True, text=True, check=False
    )


def test_alerts_are_raised_by_what_they_are_for_and_by_nothing_else(tmp_path: Path) -> None:
    done = promtool(tmp_path, (ROOT / alerts.FILE).read_text())
    assert done.returncode == 0, done.stdout + done.stderr


LETTERS = "rankstream_dead_letters_total"


@pytest.mark.parametrize(
    ("right", "slip", "name"),
    [
        # What increase() does not see, a series that is new with its first value:
        (f"({LETTERS} unless last_over_time({LETTERS}[1d] offset 15m)) or ", "", "DeadLetters"),
        # What a failed scrape makes new:
        (f"last_over_time({LETTERS}[1d] offset 15m)", f"{LETTERS} offset 15m", "DeadLetters"),
        (" unless on() absent(rankstream_ready)", "", "ProcessorAway"),
        (' unless on() absent(process_uptime_seconds{job=~"rankstream/.+"})', "", "GatewayAway"),
        ("> 50", "> 0", "BudgetBurnsFast"),
        (">= 2", ">= 3", "ProbeFails"),
        ('rankstream-gateway"', 'gateway"', "GatewayAway"),
        ('consumergroup!~"rankstream[.]replay-.+"', 'consumergroup!="x"', "GroupStands"),
        ('result!~"validation|decode"', 'result!="x"', "BudgetBurnsFast"),
    ],
)
def test_a_slip_in_an_alert_is_found(tmp_path: Path, right: str, slip: str, name: str) -> None:
    text = yaml.safe_dump(yaml.safe_load((ROOT / alerts.FILE).read_text()), width=10_000)
    assert right in text
    done = promtool(tmp_path, text.replace(right, slip))
    assert done.returncode != 0
    assert f"Rankstream{name}" in done.stdout + done.stderr


def test_the_checker_is_of_the_prometheus_that_runs_and_it_takes_its_configuration() -> None:
    compose = (ROOT / "docker-compose.yml").read_text()
    [major, minor, patch] = re.findall(r"image: prom/prometheus:v(\d+)\.(\d+)\.(\d+)", compose)[0]
    assert tools.PROMTOOL[1] == f"v0.{int(major)}{int(minor):02d}.{patch}"
    program = tools.FOLDER / "bin" / "promtool"
    if not program.exists():
        pytest.skip("promtool is not here: `make tools ARGS=promtool` builds it, in minutes")
    file = ROOT / "deploy/observability/prometheus.yml"
    done = subprocess.run([program, "check", "config", file], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def runbooks() -> dict[str, str]:
    """Return the runbooks by the anchors that their headings have."""
    parts = re.split(r"^## (\w+)\n", RUNBOOKS, flags=re.MULTILINE)
    return {name.lower(): text for name, text in zip(parts[1::2], parts[2::2], strict=True)}


@pytest.mark.parametrize("alert", alerts.ALL, ids=lambda alert: alert.name)
def test_each_alert_has_a_runbook_that_says_what_it_means_where_to_look_and_what_to_do(alert: Alert) -> None:
    file, _, anchor = alert.rule["annotations"]["runbook"].partition("#")
    assert (ROOT / file).exists()
    text = runbooks()[anchor]
    assert [part for part in ("**It means**", "**Look**", "**Do**") if part not in text] == []
    # What a message is filled with is a label that the expression keeps, or that its series have.
    for label in re.findall(r"\$labels\.(\w+)", alert.summary):
        kept = {name for each in asked(alert.expr) for name in each.by | known_labels(each.metric)}
        assert label in kept


def test_there_is_no_runbook_without_an_alert() -> None:
    assert runbooks().keys() == {alert.name.lower() for alert in alerts.ALL}


def test_commands_of_the_runbooks_are_commands_with_options_that_they_have() -> None:
    shown = re.findall(r"^(rankstream [^\n#]+)", "\n".join(re.findall(r"```sh\n(.*?)```", RUNBOOKS, re.DOTALL)), re.M)
    shown += re.findall(r"`(rankstream [^`]+)`", RUNBOOKS)
    assert len(shown) > 10
    for line in shown:
        name, *rest = line.split()[1:]
        assert name in COMMANDS, line
        command: click.Command | None = rankstream.get_command(click.Context(rankstream), name)
        while isinstance(command, click.Group) and rest and rest[0] in command.commands:
            command = command.commands[rest.pop(0)]
        assert command is not None
        assert not isinstance(command, click.Group) or not rest, line
        options = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
        assert {part.partition("=")[0] for part in rest if part.startswith("--")} <= options, line


def test_panels_that_runbooks_name_are_there() -> None:
    titles = {each.title for each in dashboards.ALL}
    panels = {panel.title for each in dashboards.ALL for panel in each.panels}
    named = re.findall(r"dashboard \*([^*]+)\*(?:, \*([^*]+)\*)?", RUNBOOKS)
    assert len(named) > 5
    assert [name for name, _ in named if name not in titles] == []
    assert [panel for _, panel in named if panel and panel not in panels] == []


def test_what_is_named_of_topics_and_processors_follows_the_catalogue() -> None:
    by_name = {alert.name: alert.expr for alert in alerts.ALL}
    watched = set(re.findall(r'absent\(rankstream_ready\{processor="([\w-]+)"', by_name["RankstreamProcessorAway"]))
    assert watched == {each.name for each in catalogue.ALL if not each.per_generation}
    names = {each.name for each in topics.ALL}
    [listed] = re.findall(r'topic=~"([^"]+)"', by_name["RankstreamKafkaReplicas"])
    assert {re.sub(r"\[\.]", ".", part) for part in listed.split("|")} == names
