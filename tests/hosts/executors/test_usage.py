"""What a command says that it used is in its ending."""

import sys

import msgspec
import pytest

from hosts.executors.stages import Stage
from manyhands.core.values.ending import Ending, EndingKind
from manyhands.core.values.task import Task


async def ending_of(shell: Stage, usage: str, *, rest: str = "", check: tuple[str, ...] = ()) -> Ending:
    script = f'printf %s "$1" > "$MANYHANDS_USAGE_FILE"; {rest}'
    return await shell.desk.run(Task("t", run=("sh", "-c", script, "sh", usage), check=check))


async def test_tokens_and_cost_are_taken_and_other_fields_passed_over(shell: Stage) -> None:
    said = '{"tokens_in": 1200, "tokens_out": 34, "cost": 0.021, "model": "m"}'
    ending = await ending_of(shell, said)
    assert ending.kind is EndingKind.DONE
    assert (ending.tokens_in, ending.tokens_out, ending.cost) == (1200, 34, 0.021)
    assert (await shell.desk.run(Task("t", run=("true",)))).cost is None


async def test_what_is_null_is_unknown_and_the_rest_counts(shell: Stage) -> None:
    ending = await ending_of(shell, '{"tokens_in": null, "tokens_out": 7, "cost": 0.5}')
    assert (ending.tokens_in, ending.tokens_out, ending.cost) == (0, 7, 0.5)


async def test_a_failure_was_paid_for_too(shell: Stage) -> None:
    failed = await ending_of(shell, '{"tokens_out": 5}', rest="exit 3")
    assert (failed.kind, failed.tokens_out, failed.cost) == (EndingKind.FAILED, 5, None)
    refused = await ending_of(shell, '{"cost": 2}', check=("false",))
    assert (refused.kind, refused.cost) == (EndingKind.FAILED, 2.0)


async def test_a_check_says_nothing_of_what_was_used(shell: Stage) -> None:
    check = ("sh", "-c", '[ -z "$MANYHANDS_USAGE_FILE" ]')
    assert (await ending_of(shell, "{}", check=check)).kind is EndingKind.DONE


async def test_a_report_with_the_whole_answer_in_it_is_taken_up_to_a_megabyte(shell: Stage) -> None:
    script = (
        "import os, sys; open(os.environ['MANYHANDS_USAGE_FILE'], 'w').write(' ' * int(sys.argv[1]) + '{\"cost\": 1}')"
    )
    task = Task("t", run=(sys.executable, "-c", script, "1000000"))
    assert (await shell.desk.run(task)).cost == 1.0
    assert (await shell.desk.run(msgspec.structs.replace(task, run=(*task.run[:-1], "2000000")))).cost is None
    assert "more than 1,048,576 bytes" in (shell.desk.directory(2) / "output.log").read_text()


@pytest.mark.parametrize(
    "said",
    [
        f'{{"tokens_in": {2**80}}}',
        '{"tokens_in": true}',
        "",
        "[" * 100_000,
        '{"answer": "' + "x" * 110_000 + '", "cost": "much"}',
        "tokens: 5",
        "[]",
        '{"tokens_in": -1}',
        '{"cost": -0.1}',
        '{"cost": 1e999}',
        "\xff",
    ],
)
async def test_what_cannot_be_read_changes_nothing_and_is_said_in_the_output(shell: Stage, said: str) -> None:
    ending = await ending_of(shell, said, rest="echo well")
    assert (ending.kind, ending.tokens_in, ending.cost) == (EndingKind.DONE, 0, None)
    log = (shell.desk.directory(1) / "output.log").read_text()
    assert log.startswith("well\nmanyhands: usage.json is left out of account: ")
