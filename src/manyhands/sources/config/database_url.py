"""Telling the URL of a database from a directory, and showing it without its secrets."""

import re

_DATABASE = re.compile(r"postgres(ql)?://")
_PASSWORD = re.compile(r"(://[^/@:?]*):[^@/]*@")
_SECRET_OPTION = re.compile(r"((?:^|[?&])\w*pass\w*)=[^&]*")


def is_database(store: str) -> bool:
    return _DATABASE.match(store) is not None


def is_url(store: str) -> bool:
    return "://" in store


def without_secrets(url: str) -> str:
    return _SECRET_OPTION.sub(r"\1=…", _PASSWORD.sub(r"\1:…@", url))
