"""CUDA_VISIBLE_DEVICES as the CUDA programming guide has it."""

import pytest

from manyhands.readers.visible_devices import InstalledDevice, Partition, visible_uuids

A, B, C = "GPU-8932f937-a", "GPU-8932aaaa-b", "GPU-17c0ffee-c"
FIRST, SECOND = "MIG-5a5a0001", "MIG-5a5a0002"
INSTALLED = (
    InstalledDevice(A),
    InstalledDevice(B),
    InstalledDevice(C, (Partition(FIRST, 3, 0), Partition(SECOND, 4, 1))),
)


@pytest.mark.parametrize(
    ("visible", "uuids"),
    [
        pytest.param(None, [A, B, FIRST], id="not set: all, a divided one by its first partition"),
        pytest.param("", [], id="empty: none"),
        pytest.param("2,1", [FIRST, B], id="indexes, in their order"),
        pytest.param("0,1,-1,2", [A, B], id="the guide's example of an invalid index"),
        pytest.param("0,9,1", [A], id="nothing after an index too large"),
        pytest.param(" 1 , 0 ", [B, A], id="spaces"),
        pytest.param(A, [A], id="a whole uuid"),
        pytest.param("GPU-8932f", [A], id="the beginning of one uuid"),
        pytest.param("GPU-8932", [], id="the beginning of two uuids"),
        pytest.param("gpu-8932f", [], id="uuids are case-sensitive"),
        pytest.param(SECOND, [SECOND], id="a partition"),
        pytest.param(f"{SECOND},{FIRST},0", [SECOND, FIRST, A], id="partitions and an index"),
        pytest.param(f"MIG-{C}/4/1", [SECOND], id="a partition by instances"),
        pytest.param(f"MIG-{C}/9/9", [], id="no such instances"),
        pytest.param("0,0", [A], id="twice the same"),
        pytest.param("٣", [], id="a digit of another script"),
        pytest.param("NoDevFiles", [], id="a word"),
    ],
)
def test_what_is_visible(visible: str | None, uuids: list[str]) -> None:
    assert visible_uuids(INSTALLED, visible) == uuids
