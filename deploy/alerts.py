"""Alerts, written once for both: rules for the Prometheus of compose, and a PrometheusRule for Kubernetes.

Budgets burn as in "Alerting on SLOs" of The Site Reliability Workbook (O'Reilly, 2018): a fast and a slow rate, each
seen in a long and a short window, so that an alert neither comes late nor stays long.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from deploy.manifests import Manifest, text
from streams.processor import Processor
from streams.processors import catalogue
from topics import catalogue as topics

FILE = "deploy/observability/rules.yaml"
KUBERNETES_FILE = "k8s/components/monitoring/alerts.yaml"
RUNBOOKS = "docs/runbooks.md"
BUDGET = 0.005  # of a month's questions may have no answer
FAST, SLOW = 14.4, 6.0  # times the rate that would use the budget up in a month: 2 % of it in an hour, 5 % in six
LEAST = 50  # questions in an hour, or in the long window: of a few, one that fails is no rate
FAILED = "timeout|overloaded|fence unavailable|no reply|internal"  # results that are ours; the others are the asker's
EDIT_WAIT = 120.0  # seconds that an edit may wait for one processor
QUESTION_WAIT = 5.0  # seconds that a question may: the budget of the shipped profiles

Severity = Literal["critical", "warning"]


@dataclass(frozen=True, kw_only=True)
class Alert:
    """A condition, how long it must last, and what to tell whom."""

    name: str
    expr: str
    severity: Severity
    summary: str
    action: str
    lasts: str = "0s"

    @property
    def rule(self) -> Manifest:
        """Return it as Prometheus has it."""
        return {
            "alert": self.name,
            "expr": self.expr,
            **({} if self.lasts == "0s" else {"for": self.lasts}),
            "labels": {"severity": self.severity},
            "annotations": {
                "summary": self.summary,
                "action": self.action,
                "runbook": f"{RUNBOOKS}#{self.name.lower()}",
            },
        }


def files() -> dict[str, bytes]:
    """Return the two files."""
    groups = [{"name": "rankstream", "rules": [alert.rule for alert in ALL]}]
    kubernetes: Manifest = {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PrometheusRule",
        "metadata": {"name": "rankstream"},
        "spec": {"groups": groups},
    }
    return {FILE: text([{"groups": groups}]), KUBERNETES_FILE: text([kubernetes])}


def _bad(window: str) -> str:
    """Return the share of questions without an answer; questions that cannot be asked at all do not count."""
    asked = "rankstream_question_duration_seconds_count"
    failed = f'sum(rate({asked}{{result=~"{FAILED}"}}[{window}]))'
    return f'({failed} / sum(rate({asked}{{result!~"validation|decode"}}[{window}])))'


def _burning(rate: float, long: str, short: str) -> str:
    most = f"{rate * BUDGET:g}"
    enough = _enough('rankstream_question_duration_seconds_count{result!~"validation|decode"}', long)
    return f"{_bad(long)} > {most} and {_bad(short)} > {most} and {enough}"


def _enough(questions: str, window: str) -> str:
    return f"sum(increase({questions}[{window}])) > {LEAST}"


def _fresh(counter: str, window: str) -> str:
    """Return the increase of each series; one that is new counts from nothing, which increase() alone does not see.

    It is new if it was not there in the day before the window either: scrapes may have failed.
    """
    return f"({counter} unless last_over_time({counter}[1d] offset {window})) or increase({counter}[{window}])"


def _names(processors: Sequence[Processor]) -> str:
    return "|".join(processor.name for processor in processors if not processor.per_generation)


def _away(processors: Sequence[Processor]) -> str:
    named = (each.name for each in processors if not each.per_generation)
    absent = " or ".join(f'absent(rankstream_ready{{processor="{name}"}})' for name in named)
    return f"({absent} or max by (processor) (rankstream_ready) == 0) unless on() absent(rankstream_ready)"


def _of_questions() -> Iterator[Alert]:
    yield Alert(
        name="RankstreamBudgetBurnsFast",
        expr=_burning(FAST, "1h", "5m"),
        severity="critical",
        summary="questions go without an answer: a month's budget lasts two days at this rate",
        action="look at the dashboard Questions, by result; then at the processors that are not ready",
    )
    yield Alert(
        name="RankstreamBudgetBurns",
        expr=_burning(SLOW, "6h", "30m"),
        severity="warning",
        summary="questions go without an answer: a month's budget lasts five days at this rate",
        action="look at the dashboard Questions, by result and over the day",
    )
    seen = "rankstream_client_question_duration_seconds_count"
    yield Alert(
        name="RankstreamNoReply",
        expr=f'sum(rate({seen}{{result="no reply"}}[5m])) / sum(rate({seen}[5m])) > 0.01 and {_enough(seen, "1h")}',
        lasts="5m",
        severity="critical",
        summary="one question in a hundred has no reply by its deadline, as clients with telemetry see it",
        action="see which processor of the query path is away or behind",
    )
    answered = 'rankstream_question_duration_seconds_count{result=~"answered|degraded"}'
    degraded = 'rankstream_question_duration_seconds_count{result="degraded"}'
    yield Alert(
        name="RankstreamDegraded",
        expr=f"sum(rate({degraded}[15m])) / sum(rate({answered}[15m])) > 0.05 and {_enough(answered, '1h')}",
        lasts="10m",
        severity="warning",
        summary="more than one answer in twenty is degraded",
        action="look at the dashboard Questions, degraded by leg and reason",
    )
    slow = "sum by (le) (rate(rankstream_question_duration_seconds_bucket[10m]))"
    yield Alert(
        name="RankstreamQuestionsSlow",
        expr=f"histogram_quantile(0.95, {slow}) > 2.5",
        lasts="10m",
        severity="warning",
        summary="one question in twenty takes longer than two and a half seconds",
        action="look at the dashboard Questions, p95 by stage",
    )
    yield Alert(
        name="RankstreamQuestionsWait",
        expr=f'max by (processor) (rankstream_time_lag_seconds{{processor=~"{_names(catalogue.QUERY)}"}})'
        f" > {QUESTION_WAIT:g}",
        lasts="2m",
        severity="critical",
        summary="questions wait for {{ $labels.processor }}",
        action="start more processes of it, up to the partitions of its topic",
    )


def _of_documents() -> Iterator[Alert]:
    yield Alert(
        name="RankstreamIndexBehind",
        expr=f'max by (processor) (rankstream_time_lag_seconds{{processor=~"{_names(catalogue.LIVE)}"}})'
        f" > {EDIT_WAIT:g}",
        lasts="5m",
        severity="warning",
        summary="edits wait for {{ $labels.processor }}",
        action="start more processes of it, up to the partitions of its topic",
    )
    moving = "sum by (processor) (rate(messaging_process_duration_seconds_count[10m])) > 0"
    yield Alert(
        name="RankstreamProcessorStands",
        expr=f'max by (processor) (rankstream_time_lag_seconds{{processor!="replay"}}) > 300 unless {moving}',
        lasts="5m",
        severity="critical",
        summary="{{ $labels.processor }} has records to work on and finishes none",
        action="/readyz of its processes names the store or model that it waits for",
    )
    ours = 'consumergroup=~"rankstream[.].+", consumergroup!~"rankstream[.]replay-.+"'
    moved = f"sum by (consumergroup) (increase(kafka_consumergroup_current_offset{{{ours}}}[10m])) > 0"
    yield Alert(
        name="RankstreamGroupStands",
        expr=f"sum by (consumergroup) (kafka_consumergroup_lag{{{ours}}}) > 0 unless {moved}",
        lasts="10m",
        severity="critical",
        summary="{{ $labels.consumergroup }} has records to read and acknowledges none",
        action="see whether any process of it runs",
    )
    yield Alert(
        name="RankstreamDeadLetters",
        expr=f"sum by (topic, error_class) ({_fresh('rankstream_dead_letters_total', '15m')}) > 0",
        severity="warning",
        summary="records of {{ $labels.topic }} became dead letters: {{ $labels.error_class }}",
        action="rankstream dlq list; mend the cause, then redrive",
    )


def _of_processes() -> Iterator[Alert]:
    yield Alert(
        name="RankstreamProcessorAway",
        expr=_away(catalogue.ALL),
        lasts="5m",
        severity="critical",
        summary="no process of {{ $labels.processor }} is ready",
        action="see whether one runs, and what its log's last line says",
    )
    yield Alert(
        name="RankstreamGatewayAway",
        expr='absent(process_uptime_seconds{job="rankstream/rankstream-gateway"})'
        ' unless on() absent(process_uptime_seconds{job=~"rankstream/.+"})',
        lasts="5m",
        severity="critical",
        summary="no gateway runs: nobody is answered over HTTP",
        action="see whether one runs, and what its log's last line says",
    )
    began_again = 'resets(process_uptime_seconds{job=~"rankstream/.+"}[30m]) > 3'
    yield Alert(
        name="RankstreamRestarts",
        expr=f'{began_again} or increase(kube_pod_container_status_restarts_total{{container="processor"}}[30m]) > 3',
        severity="warning",
        summary="{{ $labels.job }} {{ $labels.pod }} starts again and again",
        action="its last line says why; exit code 2 is a wrong or missing setting",
    )
    calls = "rankstream_call_duration_seconds_count"
    errors = f'sum by (system) (rate({calls}{{outcome="error"}}[10m]))'
    yield Alert(
        name="RankstreamCallsFail",
        expr=f"{errors} / sum by (system) (rate({calls}[10m])) > 0.05",
        lasts="5m",
        severity="warning",
        summary="more than one call in twenty to {{ $labels.system }} fails",
        action="look at that server; documents wait for it, answers are degraded",
    )
    yield Alert(
        name="RankstreamCodeDiffers",
        expr="max by (job) (rankstream_code_differences) > 0",
        severity="critical",
        summary="{{ $labels.job }} runs code that is not what was released",
        action="rankstream version --verify in its container names the files",
    )

    versions = 'count(count by (service_version) (target_info{job=~"rankstream/.+"}))'
    yield Alert(
        name="RankstreamVersionsDiffer",
        expr=f"{versions} > 1",
        lasts="1h",
        severity="warning",
        summary="processes of two releases have run beside each other for an hour",
        action="see which image each runs; `rankstream version` prints what its code is",
    )


def _of_the_probe() -> Iterator[Alert]:
    yield Alert(
        name="RankstreamProbeFails",
        expr="max(rankstream_probe_failures) >= 2",
        severity="critical",
        summary="the probe failed twice in a row: what is promised does not hold",
        action="its last line names the step and what was wrong",
    )
    yield Alert(
        name="RankstreamProbeAway",
        expr="absent(rankstream_probe_age_seconds) or min(rankstream_probe_age_seconds) > 1800",
        lasts="15m",
        severity="warning",
        summary="the probe has not run for three quarters of an hour",
        action="see whether its process runs and reaches the collector",
    )


def _of_servers() -> Iterator[Alert]:
    yield Alert(
        name="RankstreamTelemetryAway",
        expr="absent(rankstream_ready)",
        lasts="5m",
        severity="critical",
        summary="Prometheus has nothing of the processors: other alerts are blind",
        action="see whether the collector runs",
    )
    volume = 'persistentvolumeclaim=~"data-.*rankstream-nodes-.+"'
    used = f"kubelet_volume_stats_used_bytes{{{volume}}} / kubelet_volume_stats_capacity_bytes{{{volume}}}"
    yield Alert(
        name="RankstreamKafkaDisk",
        expr=f"{used} > 0.8",
        lasts="15m",
        severity="critical",
        summary="{{ $labels.persistentvolumeclaim }} is more than four fifths full",
        action="make the volume larger, or keep less",
    )
    broker = 'container="kafka", pod=~"rankstream-nodes-.+"'
    limit = f'kube_pod_container_resource_limits{{{broker}, resource="memory"}}'
    yield Alert(
        name="RankstreamKafkaMemory",
        expr=f"max by (namespace, pod) (container_memory_rss{{{broker}}}) / max by (namespace, pod) ({limit}) > 0.9",
        lasts="15m",
        severity="warning",
        summary="{{ $labels.pod }} has less than a tenth of its memory left",
        action="give it more, or a smaller heap",
    )
    topic = "|".join(sorted(each.name.replace(".", "[.]") for each in topics.ALL))
    yield Alert(
        name="RankstreamKafkaReplicas",
        expr=f'sum by (topic) (kafka_topic_partition_under_replicated_partition{{topic=~"{topic}"}}) > 0',
        lasts="10m",
        severity="critical",
        summary="partitions of {{ $labels.topic }} have fewer copies than they should",
        action="see which broker is away",
    )


ALL: tuple[Alert, ...] = (
    *_of_questions(),
    *_of_documents(),
    *_of_processes(),
    *_of_the_probe(),
    *_of_servers(),
)
