"""Which devices CUDA_VISIBLE_DEVICES makes visible, computed without CUDA.

This follows the CUDA programming guide: identifiers are indexes, UUIDs or prefixes of UUIDs, and the first
invalid one hides everything after it. Indexes are in the order of NVML and nvidia-smi.
"""

from msgspec import Struct


class Partition(Struct, frozen=True):
    """A MIG device: a slice of a device, with its own memory."""

    uuid: str
    gpu_instance: int
    compute_instance: int


class InstalledDevice(Struct, frozen=True):
    uuid: str
    partitions: tuple[Partition, ...] = ()  # in MIG mode


def visible_uuids(installed: tuple[InstalledDevice, ...], visible: str | None) -> list[str]:
    """The UUIDs that a CUDA program would see, in its order. `visible` None: the variable is not set."""
    if visible is None:
        return [first_usable(device) for device in installed]
    found: list[str] = []
    for identifier in visible.split(","):
        uuid = find(installed, identifier.strip())
        if uuid is None:
            break
        if uuid not in found:
            found.append(uuid)
    return found


def find(installed: tuple[InstalledDevice, ...], identifier: str) -> str | None:
    if identifier.isdecimal():
        index = int(identifier)
        return first_usable(installed[index]) if index < len(installed) else None
    if identifier.startswith("MIG-GPU-"):
        return find_by_instances(installed, identifier.removeprefix("MIG-"))
    if identifier.startswith("MIG-"):
        parts = [part.uuid for device in installed for part in device.partitions]
        return only([uuid for uuid in parts if uuid.startswith(identifier)])
    if identifier.startswith("GPU-"):
        return only([first_usable(device) for device in installed if device.uuid.startswith(identifier)])
    return None


def find_by_instances(installed: tuple[InstalledDevice, ...], identifier: str) -> str | None:
    """The form of drivers before R470: GPU-<uuid>/<gpu instance>/<compute instance>."""
    uuid, _, instances = identifier.partition("/")
    for device in installed:
        for part in device.partitions:
            if device.uuid == uuid and instances == f"{part.gpu_instance}/{part.compute_instance}":
                return part.uuid
    return None


def first_usable(device: InstalledDevice) -> str:
    """The device, or its first partition: in MIG mode CUDA uses a device only through its first partition."""
    return device.partitions[0].uuid if device.partitions else device.uuid


def only(uuids: list[str]) -> str | None:
    return uuids[0] if len(uuids) == 1 else None
