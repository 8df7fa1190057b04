"""One cluster for all tests on Ray: it takes half a minute to start on a busy machine."""

from collections.abc import Iterator

import pytest

from hosts.ray_host.ray_stage import RayCluster, ray_cluster


@pytest.fixture(scope="session")
def cluster() -> Iterator[RayCluster]:
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'manyhands[ray]'")
    with ray_cluster() as running:
        yield running
