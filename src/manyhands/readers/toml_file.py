"""A TOML file as values and their lines, or the reason why it cannot be read."""

import re
import tomllib
from typing import Any

from manyhands.readers.problems import Problem, Problems
from manyhands.readers.toml_lines import TomlLines, toml_lines

_AT_LINE = re.compile(r"(.*?)\s*\(at line (\d+), column (\d+)\)", re.DOTALL)


def parse_toml(file: str, text: str, problems: Problems) -> tuple[dict[str, Any], TomlLines] | None:
    try:
        return tomllib.loads(text), toml_lines(text)
    except tomllib.TOMLDecodeError as error:
        problems.add(_syntax_problem(file, text, error))
    except RecursionError:
        problems.add(Problem(file=file, message="is nested too deeply"))
    except ValueError as error:  # a number of thousands of digits
        problems.add(Problem(file=file, message=f"is not valid TOML: {error}"))
    return None


def _syntax_problem(file: str, text: str, error: tomllib.TOMLDecodeError) -> Problem:
    found = _AT_LINE.fullmatch(str(error))
    if not found:
        return Problem(file=file, line=text.count("\n") + 1, message=f"is not valid TOML: {error}")
    message = f"is not valid TOML: {found[1]} at column {found[3]}"
    return Problem(file=file, line=int(found[2]), message=message, hint="look at the brackets and quotes of this line")
