"""Chooses the devices a worker computes on, and the environment of processes that must not use a device."""

import os
from collections.abc import Mapping

from manyhands.errors import ConfigError
from manyhands.worker.devices.cpu_device import CpuDevice
from manyhands.worker.devices.device import Devices
from manyhands.worker.devices.nvml_devices import NvmlDevices

DEVICE_KINDS = ("auto", "cpu", "cuda")


async def open_devices(kind: str, visible: str | None) -> Devices:
    """Open the devices of a kind. `auto` means cuda if an NVIDIA device is found, and cpu otherwise.

    `visible` is CUDA_VISIBLE_DEVICES, or None if it is not set.
    """
    if kind not in DEVICE_KINDS:
        raise ConfigError(f"`{kind}` is not a kind of device", f"use one of {', '.join(DEVICE_KINDS)}")
    if kind == "cpu":
        return CpuDevice()
    devices = NvmlDevices(visible)
    if await devices.read():
        return devices
    await devices.close()
    if kind == "cuda":
        raise ConfigError(
            f"no NVIDIA device can be used: {devices.trouble}", "use `cpu`, or check the output of nvidia-smi"
        )
    return CpuDevice()


def cpu_only_environment(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The environment of processes that never compute. Their libraries find no device."""
    return {**environment, "CUDA_VISIBLE_DEVICES": ""}
