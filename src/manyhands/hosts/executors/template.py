"""What an attempt's command receives: fields filled into its argv, and variables in its environment.

Values go unchanged into single arguments and variables. No value ever passes through a shell.
"""

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from manyhands.core.commands import StartAttempt

# The kernel allows 128 KiB for one variable, and about 2 MiB for all arguments and variables together.
_PROMPT_BYTES_MAX = 65_536
_FIELD = re.compile(r"\{(prompt|id|title|kind|attempt|last_ending|last_detail|last_output|directory)\}")
_OURS = {
    "MANYHANDS_TASK",
    "MANYHANDS_RUN",
    "MANYHANDS_ATTEMPT_NUMBER",
    "MANYHANDS_PROMPT",
    "MANYHANDS_PROMPT_FILE",
    "MANYHANDS_LAST_ENDING",
    "MANYHANDS_LAST_DETAIL",
    "MANYHANDS_LAST_OUTPUT",
    "MANYHANDS_ASK",
    "MANYHANDS_QUESTION_FILE",
    "MANYHANDS_ANSWERS_FILE",
    "MANYHANDS_RESUMES",
    "MANYHANDS_SENT_BACK",
    "MANYHANDS_ANSWER",
    "MANYHANDS_RESULT_FILE",
    "MANYHANDS_USAGE_FILE",
    "MANYHANDS_ENDING_FILE",
    "MANYHANDS_NOTES_FILE",
}
#: `git rev-parse --local-env-vars`
_OF_A_REPOSITORY = {
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_CONFIG",
    "GIT_CONFIG_PARAMETERS",
    "GIT_CONFIG_COUNT",
    "GIT_OBJECT_DIRECTORY",
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_GRAFT_FILE",
    "GIT_INDEX_FILE",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_REPLACE_REF_BASE",
    "GIT_PREFIX",
    "GIT_SHALLOW_FILE",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
}


def filled(argv: Sequence[str], order: StartAttempt, directory: Path) -> list[str]:
    """The argv with its fields replaced, once: braces in a value stay, and so do unknown fields."""
    if not any("{" in argument for argument in argv):
        return list(argv)
    task, last = order.task, order.last
    values = {
        "prompt": task.prompt,
        "id": task.id,
        "title": task.title,
        "kind": task.kind,
        "attempt": str(order.number),
        "last_ending": str(last.kind) if last else "",
        "last_detail": last.detail if last else "",
        "last_output": last.tail if last else "",
        "directory": str(directory),
    }
    return [_FIELD.sub(lambda match: values[match[1]], argument) for argument in argv]


def environment(
    order: StartAttempt, directory: Path, result_file: Path | None, host: Mapping[str, str]
) -> dict[str, str]:
    """The dispatcher's environment, overridden by the host's, the task's and finally our own variables."""
    task, last = order.task, order.last
    # A git hook that starts a dispatcher sets variables which point every git below it to another repository.
    left_out = _OURS | _OF_A_REPOSITORY if task.workspace else _OURS
    env = {name: value for name, value in os.environ.items() if name not in left_out}
    env |= host
    env |= task.env or {}
    env["MANYHANDS_TASK"] = task.id
    env["MANYHANDS_RUN"] = order.run
    env["MANYHANDS_ATTEMPT_NUMBER"] = str(order.number)
    if task.prompt:
        env["MANYHANDS_PROMPT_FILE"] = str(directory / "prompt.txt")
        if len(task.prompt.encode(errors="replace")) <= _PROMPT_BYTES_MAX:
            env["MANYHANDS_PROMPT"] = task.prompt
    if last is not None:
        env["MANYHANDS_LAST_ENDING"] = str(last.kind)
        env["MANYHANDS_LAST_DETAIL"] = last.detail
        env["MANYHANDS_LAST_OUTPUT"] = last.tail
    if order.guidance is not None and order.guidance.words:
        env["MANYHANDS_SENT_BACK"] = order.guidance.words
    if order.guidance is not None and order.guidance.answers:
        env["MANYHANDS_ANSWER"] = order.guidance.answers[-1].words
    if result_file is not None:
        env["MANYHANDS_RESULT_FILE"] = str(result_file)
    return env
