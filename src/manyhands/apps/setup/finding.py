"""One thing that `manyhands doctor` has looked at."""

from msgspec import Struct


class Finding(Struct, frozen=True):
    what: str
    good: bool
    says: str
    fix: str = ""
