"""What does an agent host cost over a shell host that runs the same command?

The command prints what an agent prints in a session of 200 tool calls and computes for a while. The kinds of host take
turns, one attempt at a time, so that a busy machine burdens them alike. CPU is that of everything: ours and theirs.
"""

import asyncio
import json
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from record import record

from manyhands.core.commands import StartAttempt
from manyhands.core.values.ending import Ending, EndingKind
from manyhands.core.values.host import ProcessHandle
from manyhands.core.values.task import Task
from manyhands.hosts.agents.agent_executor import AgentExecutor
from manyhands.hosts.agents.agent_settings import AgentSettings
from manyhands.hosts.executors.executor import Ended, Executor, ProcessSpawned
from manyhands.hosts.executors.shell_executor import ShellExecutor, ShellSettings

ROUNDS = 40
_PROGRAM = """
import json, sys
sys.stdin.read()
tool = {"type": "tool_use", "name": "Write", "input": {"file_path": "/w/a.py", "content": "x" * 500}}
for n in range(200):
    print(json.dumps({"type": "assistant", "message": {"content": [tool]}}), flush=True)
    sum(range(100_000))
usage = {"input_tokens": 100, "output_tokens": 7}
print(json.dumps({"type": "result", "subtype": "success", "is_error": False, "result": "Done.", "usage": usage}))
"""


def cpu_s() -> float:
    spent = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in spent)


class Host:
    """An executor whose attempts are begun and waited for one by one."""

    def __init__(self, make: Callable[[ProcessSpawned, Ended], Executor], task: Task, directory: Path) -> None:
        self._task = task
        self._directory = directory
        self._count = 0
        self._ended: asyncio.Future[Ending] | None = None
        self.executor = make(self._note_spawned, self._note_ended)
        self.seconds: list[float] = []
        self.cpu: list[float] = []

    async def attempt(self) -> None:
        self._count += 1
        self._ended = asyncio.get_running_loop().create_future()
        began_at, cpu_before = time.perf_counter(), cpu_s()
        order = StartAttempt(self._count, "run", self._task, 1, "host", None)
        self.executor.start(order, str(self._directory / str(self._count)))
        ending = await self._ended
        assert ending.kind is EndingKind.DONE, ending
        self.seconds.append(time.perf_counter() - began_at)
        self.cpu.append(cpu_s() - cpu_before)

    def _note_spawned(self, attempt: int, process: ProcessHandle) -> None:
        self.executor.release(attempt)

    def _note_ended(self, attempt: int, ending: Ending) -> None:
        assert self._ended is not None
        self._ended.set_result(ending)


async def main() -> None:
    with tempfile.TemporaryDirectory() as made:
        place = Path(made)
        program = place / "program.py"
        program.write_text(_PROGRAM)
        argv = (sys.executable, str(program))
        shell = ShellSettings(workspace=place)
        agent = AgentSettings(workspace=place, agent="", run=argv, reads="claude")
        hosts = {
            "shell": Host(lambda s, e: ShellExecutor(shell, s, e), Task("t", run=argv), place / "shell"),
            "agent": Host(lambda s, e: AgentExecutor(agent, s, e), Task("t", prompt="do it"), place / "agent"),
        }
        for _ in range(ROUNDS):
            for host in hosts.values():
                await host.attempt()
        for host in hosts.values():
            await host.executor.close()
    shell_s, agent_s = median(hosts["shell"].seconds), median(hosts["agent"].seconds)
    shell_cpu, agent_cpu = median(hosts["shell"].cpu), median(hosts["agent"].cpu)
    print(f"{'':8}{'attempt':>12}{'CPU':>12}")
    for name, host in hosts.items():
        print(f"{name:8}{median(host.seconds) * 1000:>9.1f} ms{median(host.cpu) * 1000:>9.1f} ms")
    params = {"rounds": ROUNDS, "lines": 200}
    record("agent_overhead", {**params, "of": "an attempt"}, (agent_s - shell_s) * 1000, "ms")
    record("agent_overhead", {**params, "of": "CPU"}, (agent_cpu / shell_cpu - 1) * 100, "%")
    print(json.dumps({"ms": (agent_s - shell_s) * 1000, "cpu_percent": (agent_cpu / shell_cpu - 1) * 100}))


if __name__ == "__main__":
    asyncio.run(main())
