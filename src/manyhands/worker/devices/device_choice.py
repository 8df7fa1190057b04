"""Which devices a worker computes on, and how processes that must not are started."""

import os
from collections.abc import Mapping

from manyhands.errors import ConfigError
from manyhands.worker.devices.cpu_device import CpuDevice
from manyhands.worker.devices.device import Devices
from manyhands.worker.devices.nvml_devices import NvmlDevices

DEVICE_KINDS = ("auto", "cpu", "cuda")


async def open_devices(kind: str, visible: str | None) -> Devices:
    """`visible`: CUDA_VISIBLE_DEVICES, None if it is not set. `auto` is cuda where a device shows, and else cpu."""
    if kind not in DEVICE_KINDS:
        raise ConfigError(f"no kind of device `{kind}`", f"one of {', '.join(DEVICE_KINDS)}")
    if kind == "cpu":
        return CpuDevice()
    devices = NvmlDevices(visible)
    if await devices.read():
        return devices
    await devices.close()
    if kind == "cuda":
        raise ConfigError(f"no NVIDIA device can be used: {devices.trouble}", "use `cpu`, or see what nvidia-smi says")
    return CpuDevice()


def cpu_only_environment(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """For processes that prepare and never compute: a library of theirs that looks for devices finds none."""
    return {**environment, "CUDA_VISIBLE_DEVICES": ""}
