"""Rules for names that are not declared fields: keys of tables and ids of issues."""

from manyhands.field_rules import Name
from manyhands.readers.constraints import constraints_of, declared
from manyhands.readers.problems import FieldPath, Sheet
from manyhands.readers.shape import REFUSED, is_text, reader_of

_RULES = constraints_of(declared(Name))
_read_name = reader_of(Name)


def is_good_name(name: str) -> bool:
    return is_text(name) and all(rule.holds(name) for rule in _RULES)


def check_name(name: str, path: FieldPath, sheet: Sheet) -> bool:
    return _read_name(name, path, sheet) is not REFUSED
