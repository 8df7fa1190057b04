"""The schema of manyhands.toml accepts what the reader accepts and refuses the same names and types."""

import tomllib

import pytest
from jsonschema import Draft202012Validator

from manyhands.sources.config.config_schema import config_schema
from sources.config.test_bad_configs import TEXTS
from sources.config.test_config_reading import FILE

SCHEMA = Draft202012Validator(config_schema())
#: What a schema cannot know: the order of bounds, paths, names of hosts, where a server is, schedules, NUL.
BEYOND = (
    "ordering of bounds",
    "min = 4",
    "../x",
    '"a b"',
    "u0000",
    'dir = ""',
    "inf",
    "[::1",
    "(busy",
    "run = [] }",
    "10.0.0.7",
    "schedule = ",
    "timezone = ",
)


def test_it_is_a_schema() -> None:
    Draft202012Validator.check_schema(config_schema())


def test_a_good_file_is_valid() -> None:
    for good in (tomllib.loads(FILE), {}):
        assert [error.message for error in SCHEMA.iter_errors(good)] == []


@pytest.mark.parametrize(
    "text",
    [
        text
        for text, _, _, message, _ in TEXTS
        if isinstance(text, str) and "TOML" not in message and not any(word in text for word in BEYOND)
    ],
)
def test_what_the_reader_refuses_the_schema_refuses(text: str) -> None:
    assert not SCHEMA.is_valid(tomllib.loads(text))
