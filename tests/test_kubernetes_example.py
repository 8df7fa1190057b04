"""The manifest is YAML that hangs together, and the configuration inside it is one we would take."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from manyhands.sources.config.config_reading import ConfigRefused, load_config
from manyhands.sources.config.config_types import RayHost

MANIFEST = Path(__file__).parents[1] / "examples" / "kubernetes" / "manyhands.yaml"


def parts() -> dict[tuple[str, str], dict[str, Any]]:
    return {(part["kind"], part["metadata"]["name"]): part for part in yaml.safe_load_all(MANIFEST.read_text())}


def test_what_the_pods_refer_to_is_there() -> None:
    found = parts()
    assert len(found) == 5
    assert {part["metadata"]["namespace"] for part in found.values()} == {"manyhands"}
    dispatcher = found["Deployment", "dispatcher"]["spec"]
    assert dispatcher["replicas"] == 2
    pod = dispatcher["template"]["spec"]
    mounted = {mount["name"] for mount in pod["containers"][0]["volumeMounts"]}
    assert mounted == {volume["name"] for volume in pod["volumes"]}
    assert ("ConfigMap", pod["volumes"][0]["configMap"]["name"]) in found
    for name in ("Deployment", "dispatcher"), ("StatefulSet", "journal"):
        spec = found[name]["spec"]
        assert spec["selector"]["matchLabels"].items() <= spec["template"]["metadata"]["labels"].items()


def test_the_configuration_in_it_is_taken_and_leads_to_the_services_in_it(tmp_path: Path) -> None:
    found = parts()
    (tmp_path / "manyhands.toml").write_text(found["ConfigMap", "manyhands"]["data"]["manyhands.toml"])
    try:
        config = load_config(tmp_path, environ={})
    except ConfigRefused as refused:
        pytest.fail(str(refused.problems))
    assert f"@{found['Service', 'journal']['metadata']['name']}:5432/" in config.store.url
    (host,) = config.hosts
    assert isinstance(host, RayHost)
    assert host.address.startswith(f"{found['RayCluster', 'ray']['metadata']['name']}-head-svc:")
    # The config's own directory is not on the nodes: what is there is in the image.
    assert f"WORKDIR {host.workspace}\n" in MANIFEST.with_name("Dockerfile").read_text()


def test_the_cluster_wants_a_token_and_the_dispatchers_have_it() -> None:
    found = parts()
    cluster = found["RayCluster", "ray"]["spec"]
    assert cluster["authOptions"] == {"mode": "token"}
    assert f"ray[default]=={cluster['rayVersion']}" in MANIFEST.with_name("Dockerfile").read_text()
    [container] = found["Deployment", "dispatcher"]["spec"]["template"]["spec"]["containers"]
    env = {one["name"]: one for one in container["env"]}
    assert env["RAY_AUTH_MODE"]["value"] == "token"
    # KubeRay names the secret after the cluster.
    assert env["RAY_AUTH_TOKEN"]["valueFrom"]["secretKeyRef"] == {"name": "ray", "key": "auth_token"}
