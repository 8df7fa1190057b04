"""NVIDIA devices by UUID, as CUDA_VISIBLE_DEVICES shows them. They are read through NVML, never through CUDA."""

from manyhands.readers.no_answer import NoAnswer
from manyhands.readers.nvml_reader import ANSWER_WITHIN_S, NvmlReader
from manyhands.worker.values.planner_values import DeviceMemory


class NvmlDevices:
    def __init__(self, visible: str | None) -> None:
        self.trouble = ""
        self._reader = NvmlReader(visible)

    async def read(self) -> dict[str, DeviceMemory]:
        try:
            devices = await self._reader.read()
        except TimeoutError:
            self.trouble = f"NVML did not answer within {ANSWER_WITHIN_S:g} s"
            return {}
        except NoAnswer as error:
            self.trouble = str(error)
            return {}
        except Exception as error:  # a broken driver must not end the worker
            self.trouble = f"{type(error).__name__}: {error}"
            return {}
        self.trouble = ""
        return {one.uuid: DeviceMemory(one.memory_total_bytes, one.memory_free_bytes, one.own_bytes) for one in devices}

    async def close(self) -> None:
        await self._reader.close()
