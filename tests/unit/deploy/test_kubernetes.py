"""The overlays as kustomize renders them: valid, made of the catalogue, and careful."""

from __future__ import annotations

import copy
import os
import re
from pathlib import Path
from typing import Any

import promql_parser
import pytest
import trustme
import yaml

from deploy import dashboards, generate, keda, kubernetes, postgres_roles, strimzi
from schemas.generate import differing
from streams import settings
from streams.cli import run
from streams.processors import catalogue, rights, store_roles
from tests.unit.deploy.rendered import K8S, OVERLAYS, build, closed, of_kind, overlay, pods, wrong
from topics.catalogue import ALL as TOPICS

NAMES = [processor.name for processor in catalogue.ALL]
GATEWAY = "gateway"  # no processor: it has no consumer group
PROBE = "probe"  # no processor either: nobody waits for it, and it serves nothing
OPERATOR = "operator"  # a place for commands, which nobody is in
MEANT_TO_WRITE = {"kafka", "postgres", "qdrant", "redis"}  # servers of dev, whose images want to write


def processors(name: str) -> dict[str, dict[str, Any]]:
    found = of_kind(overlay(name), "Deployment")
    return {each: found[each] for each in found if each not in ("otel-collector", GATEWAY, PROBE, OPERATOR)}


def test_generated_files_are_what_the_catalogue_says() -> None:
    wanted = generate.files()
    assert differing(wanted, generate.ROOT) == [], "run `python -m deploy.generate`"
    assert generate.forgotten(wanted) == [], "run `python -m deploy.generate`"


@pytest.mark.parametrize("name", OVERLAYS)
def test_every_object_keeps_the_schema_of_its_kind(name: str) -> None:
    assert [problem for each in overlay(name) for problem in wrong(each)] == []


def test_a_field_that_a_schema_does_not_know_is_found() -> None:
    for kind, path in (("Deployment", ("spec",)), ("ScaledObject", ("spec",)), ("Kafka", ("spec", "kafka"))):
        bad = copy.deepcopy(next(iter(of_kind(overlay("production"), kind).values())))
        place = bad
        for step in path:
            place = place[step]
        place["nonsense"] = 1
        assert any("nonsense" in problem for problem in wrong(bad)), kind


def test_a_schema_is_closed_where_it_names_its_fields_and_stays_open_where_it_says_so() -> None:
    assert closed({"properties": {"a": {}}})["additionalProperties"] is False
    assert "additionalProperties" not in closed({"properties": {"a": {}}, "x-kubernetes-preserve-unknown-fields": True})
    assert closed({"x-kubernetes-int-or-string": True, "anyOf": [{}]}) == {"type": ["integer", "string"]}


@pytest.mark.parametrize("name", OVERLAYS)
def test_an_overlay_is_short(name: str) -> None:
    assert len((K8S / "overlays" / name / "kustomization.yaml").read_text().splitlines()) <= 13


@pytest.mark.parametrize("name", OVERLAYS)
def test_deployments_and_budgets_are_those_of_the_catalogue(name: str) -> None:
    assert sorted(processors(name)) == sorted(NAMES)
    assert sorted(of_kind(overlay(name), "PodDisruptionBudget")) == sorted([*NAMES, GATEWAY])
    for processor in catalogue.ALL:
        found = processors(name)[processor.name]
        [container] = found["spec"]["template"]["spec"]["containers"]
        assert container["args"] == ["run", processor.name]
        assert found["metadata"]["annotations"]["rankstream.dev/group"] == processor.group
        labels = found["spec"]["template"]["metadata"]["labels"]
        selector = of_kind(overlay(name), "PodDisruptionBudget")[processor.name]["spec"]["selector"]["matchLabels"]
        assert found["spec"]["selector"]["matchLabels"] == selector
        assert selector.items() <= labels.items()


@pytest.mark.parametrize("name", OVERLAYS)
def test_every_pod_may_do_next_to_nothing(name: str) -> None:
    for owner, template in pods(overlay(name)):
        spec = template["spec"]
        assert spec["enableServiceLinks"] is False, owner
        assert spec["automountServiceAccountToken"] is False, owner
        assert spec["securityContext"]["runAsNonRoot"] is True, owner
        assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}, owner
        for container in spec["containers"]:
            context = container["securityContext"]
            assert context["allowPrivilegeEscalation"] is False, owner
            assert context["capabilities"] == {"drop": ["ALL"]}, owner
            assert context.get("readOnlyRootFilesystem") or owner in MEANT_TO_WRITE, owner
            assert container["resources"]["limits"]["memory"], owner
            assert not container["image"].endswith(":latest") or name == "dev", owner


@pytest.mark.parametrize("name", OVERLAYS)
def test_a_processor_is_watched_and_ends_in_its_own_time(name: str) -> None:
    for owner, each in processors(name).items():
        spec = each["spec"]["template"]["spec"]
        assert spec["terminationGracePeriodSeconds"] > 2 * run.STOP, owner
        [container] = spec["containers"]
        paths = {probe: container[f"{probe}Probe"]["httpGet"]["path"] for probe in ("startup", "liveness", "readiness")}
        assert paths == {"startup": "/livez", "liveness": "/livez", "readiness": "/readyz"}, owner
        [port] = container["ports"]
        assert all(container[f"{probe}Probe"]["httpGet"]["port"] == port["name"] for probe in paths)
        spread = {each["topologyKey"] for each in spec["topologySpreadConstraints"]}
        assert spread == {"kubernetes.io/hostname", "topology.kubernetes.io/zone"}, owner


@pytest.mark.parametrize("name", OVERLAYS)
def test_the_gateway_is_reached_by_its_service_watched_and_spread_like_a_processor(name: str) -> None:
    objects = overlay(name)
    deployment, service = of_kind(objects, "Deployment")[GATEWAY], of_kind(objects, "Service")[GATEWAY]
    pod = deployment["spec"]["template"]
    [container] = pod["spec"]["containers"]
    assert container["args"] == ["run", GATEWAY]
    assert deployment["spec"]["replicas"] == 2
    assert service["spec"]["selector"].items() <= pod["metadata"]["labels"].items()
    ports = {each["name"]: each["containerPort"] for each in container["ports"]}
    assert [each["targetPort"] for each in service["spec"]["ports"]] == ["http"]
    values = {each["name"]: each["value"] for each in container["env"] if "value" in each}
    assert settings.given({settings.HTTP: values[settings.HTTP]}).http == ("0.0.0.0", ports["http"])
    assert container["readinessProbe"]["httpGet"] == {"path": "/readyz", "port": "health"}
    assert pod["spec"]["topologySpreadConstraints"]
    policies = of_kind(objects, "NetworkPolicy")
    assert name != "production" or policies[GATEWAY]["spec"]["ingress"] == [{"ports": [{"port": ports["http"]}]}]


@pytest.mark.parametrize("name", OVERLAYS)
def test_settings_come_from_one_map_and_one_secret_and_are_settings(name: str) -> None:
    known = {value for key, value in vars(settings).items() if key.isupper() and isinstance(value, str)}
    maps = of_kind(overlay(name), "ConfigMap")
    [of_ours] = [each for each in maps if each.startswith("rankstream")]
    values = maps[of_ours]["data"]
    assert values.keys() <= known
    health = settings.given({settings.HEALTH: values[settings.HEALTH]}).health
    for owner, template in pods(overlay(name)):
        if owner not in [*NAMES, "topics", PROBE]:
            continue
        [container] = template["spec"]["containers"]
        [config, secret] = container["envFrom"]
        assert config["configMapRef"]["name"] == of_ours
        assert secret["secretRef"]["name"].startswith("rankstream")
        assert {each["name"] for each in container["env"]} <= known
        assert [("0.0.0.0", each["containerPort"]) for each in container.get("ports", ())] in ([], [health])
        # What is written lies on a volume.
        mounted = {mount["mountPath"] for mount in container["volumeMounts"]}
        own = {each["name"]: each["value"] for each in container["env"] if "value" in each}
        assert {"/tmp", own[settings.DATA_DIR]} <= mounted
        assert {mount["name"] for mount in container["volumeMounts"]} == {
            volume["name"] for volume in template["spec"]["volumes"]
        }


def test_servers_that_settings_of_dev_name_are_services_of_dev() -> None:
    objects = overlay("dev")
    [values] = [each["data"] for key, each in of_kind(objects, "ConfigMap").items() if key.startswith("rankstream")]
    services = of_kind(objects, "Service")
    hosts = {
        values["KAFKA_BOOTSTRAP_SERVERS"],
        *(values[each].partition("//")[2] for each in ("QDRANT_URL", "REDIS_URL")),
    }
    for host in hosts:
        name, _, port = host.partition("/")[0].partition(":")
        assert int(port) in [each["port"] for each in services[name]["spec"]["ports"]]
    # The secret that is generated gets a new name with each content, and the pods follow.
    secrets = of_kind(objects, "Secret")
    for owner, template in pods(objects):
        for container in template["spec"]["containers"]:
            for source in container.get("envFrom", ()):
                if "secretRef" in source:
                    assert source["secretRef"]["name"] in secrets, owner


def test_scaled_objects_follow_the_group_and_topic_of_their_processor_and_stop_at_its_partitions() -> None:
    scaled = of_kind(overlay("production"), "ScaledObject")
    # A replay has a group for each generation, which come and go.
    processors_scaled = [processor for processor in catalogue.ALL if not processor.per_generation]
    assert sorted(scaled) == sorted(processor.name for processor in processors_scaled)
    for processor in processors_scaled:
        spec = scaled[processor.name]["spec"]
        assert spec["scaleTargetRef"] == {"name": processor.name}
        assert "replicas" not in processors("production")[processor.name]["spec"]
        assert spec["minReplicaCount"] <= spec["maxReplicaCount"] <= processor.source.partitions
        [lag] = [each["metadata"] for each in spec["triggers"] if each["type"] == "kafka"]
        assert (lag["consumerGroup"], lag["topic"]) == (processor.group, processor.source.name)
        measured = [each["metadata"] for each in spec["triggers"] if each["type"] == "prometheus"]
        assert bool(measured) is processor.latency
        assert all(f'"{processor.group}"' in each["query"] for each in measured)
        behavior = spec["advanced"]["horizontalPodAutoscalerConfig"]["behavior"]
        assert behavior["scaleDown"]["stabilizationWindowSeconds"] >= 300
        assert all(isinstance(value, str) for each in spec["triggers"] for value in each["metadata"].values())


def test_a_lag_of_as_many_records_as_a_process_does_in_the_target_time_is_one_process() -> None:
    def threshold(name: str) -> int:
        [text] = keda.files([each for each in catalogue.ALL if each.name == name]).values()
        [each] = yaml.safe_load_all(text)
        return int(each["spec"]["triggers"][0]["metadata"]["lagThreshold"])

    assert threshold("embed") == 5 * 60
    assert threshold("retrieve-dense") == 20 * 1


def test_what_prometheus_is_asked_can_be_parsed_and_each_alert_says_what_to_do() -> None:
    objects = overlay("production")
    for each in of_kind(objects, "ScaledObject").values():
        for trigger in each["spec"]["triggers"]:
            promql_parser.parse(trigger["metadata"].get("query", "1"))
    alerts = [
        rule
        for each in of_kind(objects, "PrometheusRule").values()
        for group in each["spec"]["groups"]
        for rule in group["rules"]
    ]
    assert alerts
    for alert in alerts:
        promql_parser.parse(alert["expr"])
        assert {"summary", "action", "runbook"} <= alert["annotations"].keys()
        assert alert["labels"]["severity"] in ("warning", "critical")


@pytest.mark.parametrize("name", OVERLAYS)
def test_an_operator_has_a_pod_with_its_own_logins_that_does_not_run_by_itself(name: str) -> None:
    deployment = of_kind(overlay(name), "Deployment")[OPERATOR]
    [container] = deployment["spec"]["template"]["spec"]["containers"]
    assert (deployment["spec"]["replicas"], container["command"]) == (0, ["sleep", "infinity"])
    if name == "production":
        given = {each["name"]: each for each in container["env"]}
        assert given[settings.KAFKA_USERNAME]["value"] == strimzi.USER.format(OPERATOR)
        assert given[settings.POSTGRES]["valueFrom"]["secretKeyRef"]["key"] == OPERATOR


@pytest.mark.parametrize("name", OVERLAYS)
def test_the_probe_is_one_alone_and_asks_every_ten_minutes(name: str) -> None:
    spec = of_kind(overlay(name), "Deployment")[PROBE]["spec"]
    assert (spec.get("replicas", 1), spec["strategy"]) == (1, {"type": "Recreate"})
    [container] = spec["template"]["spec"]["containers"]
    assert container["args"] == ["probe", "--every", "600"]
    # It serves no health: what nobody answers would restart it for ever.
    assert not [field for field in container if field.endswith("Probe")]
    assert spec["template"]["spec"]["terminationGracePeriodSeconds"] <= 30


def test_dashboards_are_found_by_their_label() -> None:
    found = of_kind(overlay("production"), "ConfigMap")["grafana-dashboards"]
    assert found["metadata"]["labels"] == {"grafana_dashboard": "1"}
    wanted = {path.rpartition("/")[2]: text.decode() for path, text in dashboards.files().items()}
    assert found["data"] == wanted


def test_topics_are_those_of_the_catalogue_with_their_partitions_and_settings() -> None:
    found = of_kind(overlay("production"), "KafkaTopic")
    assert {name: (each["spec"]["partitions"], each["spec"]["config"]) for name, each in found.items()} == {
        topic.name: (topic.partitions, topic.config) for topic in TOPICS
    }
    job = of_kind(overlay("production"), "Job")["topics"]["spec"]["template"]["spec"]["containers"][0]
    assert job["args"] == ["topics", "apply", f"--replication={strimzi.REPLICAS}"]
    assert {each["spec"]["replicas"] for each in found.values()} == {strimzi.REPLICAS}


def test_users_are_the_processors_and_the_others_with_their_rights_and_no_more() -> None:
    found = of_kind(overlay("production"), "KafkaUser")
    wanted = rights.of_everyone()
    assert {
        name: {
            (acl["resource"]["type"], acl["resource"]["name"], *acl["operations"])
            for acl in each["spec"]["authorization"]["acls"]
        }
        for name, each in found.items()
    } == {
        strimzi.USER.format(name): {(right.kind, right.name, *right.operations) for right in granted}
        for name, granted in wanted.items()
    }


def test_what_belongs_to_the_cluster_names_it() -> None:
    objects = overlay("production")
    [cluster] = of_kind(objects, "Kafka")
    for kind in ("KafkaNodePool", "KafkaTopic", "KafkaUser"):
        for each in of_kind(objects, kind).values():
            assert each["metadata"]["labels"]["strimzi.io/cluster"] == cluster
    [values] = [each["data"] for key, each in of_kind(objects, "ConfigMap").items() if key.startswith("rankstream")]
    assert values["KAFKA_BOOTSTRAP_SERVERS"] == f"{cluster}-kafka-bootstrap:9093"


def test_nobody_reaches_kafka_without_a_login_and_each_processor_logs_in_as_its_own_user(tmp_path: Path) -> None:
    objects = overlay("production")
    [kafka] = of_kind(objects, "Kafka").values()
    listeners = kafka["spec"]["kafka"]["listeners"]
    assert [(each["tls"], each["authentication"]["type"]) for each in listeners] == [(True, "scram-sha-512")]
    assert kafka["spec"]["kafka"]["authorization"] == {"type": "simple"}
    users = of_kind(objects, "KafkaUser")
    [values] = [each["data"] for key, each in of_kind(objects, "ConfigMap").items() if key.startswith("rankstream-")]
    for owner, template in pods(objects):
        if owner not in [*NAMES, "topics", PROBE]:
            continue
        [container] = template["spec"]["containers"]
        environment = {**values, **{each["name"]: each["value"] for each in container["env"] if "value" in each}}
        user = environment[settings.KAFKA_USERNAME]
        assert user == strimzi.USER.format("operator" if owner == "topics" else owner)
        assert user in users
        [volume] = [each for each in template["spec"]["volumes"] if each["name"] == "kafka"]
        [mount] = [each for each in container["volumeMounts"] if each["name"] == "kafka"]
        mounted = {
            f"{mount['mountPath']}/{item['path']}": (source["secret"]["name"], item["key"])
            for source in volume["projected"]["sources"]
            for item in source["secret"]["items"]
        }
        assert mounted[environment[settings.KAFKA_PASSWORD_FILE]] == (user, "password")
        assert mounted[environment[settings.KAFKA_CA]] == (f"{strimzi.CLUSTER}-cluster-ca-cert", "ca.crt")
        # What the pod is given is a connection, once its files are there.
        (tmp_path / "password").write_text("secret")
        trustme.CA().cert_pem.write_to_path(str(tmp_path / "ca.crt"))
        given = {name: value.replace(mount["mountPath"], str(tmp_path)) for name, value in environment.items()}
        found = settings.given(given).kafka
        assert found is not None
        assert (found.protocol, found.user) == ("SASL_SSL", user)


def test_each_processor_reaches_postgres_as_the_user_of_its_kind_of_work() -> None:
    for owner, template in pods(overlay("production")):
        if owner not in [*NAMES, "gateway", "topics"]:
            continue
        [container] = template["spec"]["containers"]
        keys = [each["valueFrom"]["secretKeyRef"] for each in container["env"] if each["name"] == settings.POSTGRES]
        wanted = store_roles.OWNER if owner == "topics" else store_roles.of_user(owner)
        assert keys == ([] if wanted is None else [{"name": postgres_roles.SECRET, "key": wanted}]), owner


def test_keda_logs_in_as_a_user_that_reads_nothing() -> None:
    objects = overlay("production")
    [authentication] = of_kind(objects, "TriggerAuthentication").values()
    parameters = {
        each["parameter"]: each for source in ("configMapTargetRef", "secretTargetRef")
        for each in authentication["spec"][source]
    }  # fmt: skip
    assert parameters.keys() == {"sasl", "tls", "username", "password", "ca"}
    user = of_kind(objects, "ConfigMap")[parameters["username"]["name"]]["data"]["username"]
    assert parameters["password"]["name"] == user
    acls = of_kind(objects, "KafkaUser")[user]["spec"]["authorization"]["acls"]
    assert {operation for acl in acls for operation in acl["operations"]} == {"Describe"}
    for scaled in of_kind(objects, "ScaledObject").values():
        for trigger in scaled["spec"]["triggers"]:
            wanted = {"name": "kafka"} if trigger["type"] == "kafka" else None
            assert trigger.get("authenticationRef") == wanted


def test_every_pod_of_production_has_a_policy() -> None:
    policies = [each["spec"] for each in of_kind(overlay("production"), "NetworkPolicy").values()]
    for owner, template in pods(overlay("production")):
        labels = template["metadata"]["labels"]
        assert any(each["podSelector"]["matchLabels"].items() <= labels.items() for each in policies), owner


@pytest.mark.parametrize("component", sorted(path.name for path in (K8S / "components").iterdir()))
def test_each_component_can_be_added_alone(tmp_path: Path, component: str) -> None:
    # kustomize reads nothing from above a folder, so the overlay stands beside the others.
    folder = K8S / "overlays" / f".{tmp_path.parent.name}-{component}"
    folder.mkdir()
    try:
        listed = {"resources": ["../../base"], "components": [f"../../components/{component}"]}
        (folder / "kustomization.yaml").write_text(yaml.safe_dump(listed))
        found = build(folder)
    finally:
        (folder / "kustomization.yaml").unlink(missing_ok=True)
        folder.rmdir()
    assert set(NAMES) <= of_kind(found, "Deployment").keys()


def test_a_container_is_called_what_the_patches_call_it() -> None:
    for file in ("pod.yaml", "probes.yaml"):
        [container] = yaml.safe_load((K8S / "base" / file).read_text())["spec"]["template"]["spec"]["containers"]
        assert container["name"] == kubernetes.CONTAINER


def test_the_query_log_is_shipped_by_the_collector_where_its_component_is_added(tmp_path: Path) -> None:
    up = Path(os.path.relpath(K8S, tmp_path.resolve()))
    body = {"resources": [str(up / "base")], "components": [str(up / "components/query-log")]}
    kind = {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization"}
    (tmp_path / "kustomization.yaml").write_text(yaml.safe_dump(kind | body))
    found = build(tmp_path)
    collector = of_kind(found, "Deployment")["otel-collector"]["spec"]["template"]["spec"]
    [container] = collector["containers"]
    maps = of_kind(found, "ConfigMap")
    volumes = {volume["name"]: maps[volume["configMap"]["name"]]["data"] for volume in collector["volumes"]}
    held = {
        f"--config={mount['mountPath']}/{name}": text
        for mount in container["volumeMounts"]
        for name, text in volumes[mount["name"]].items()
    }
    assert container["args"] == list(held)
    assert len(held) == 2
    given = {variable["name"]: variable for variable in container["env"]}
    assert set(re.findall(r"\$\{env:(\w+)}", "".join(held.values()))) == given.keys()
    assert given["KAFKA_BOOTSTRAP_SERVERS"]["valueFrom"]["configMapKeyRef"]["name"] in maps
