"""Makes an input a little different: bytes, tokens, and words of a dictionary that readers stumble over."""

import re
from collections.abc import Sequence
from random import Random

#: Longer inputs are cut: what a reader does with size is measured in `bench/`.
BYTES_MAX = 40_000
_TOKEN = re.compile(rb'[-\w.]+|"[^"\n]*"')
_DEEP = 5_000  # nested further than Python's stack carries
DICTIONARY = (
    *(
        b"\0",
        b"\\u0000",
        b"[",
        b"]",
        b"{",
        b"}",
        b"(",
        b"<",
        b">",
        b'"',
        b"'",
        b"\n",
        b"\r",
        b"\t",
        b",",
        b":",
        b"=",
        b"#",
    ),
    *(
        b"9" * 400,
        b"9" * 5_000,
        b"1e999",
        b"1e308",
        b"-1",
        b"0",
        b"0x",
        b"0o9",
        b"1_0",
        b"99999999999999999999",
        b"0.1",
    ),
    *(b"nan", b"NaN", b"inf", b"-inf", b"Infinity", b"null", b"true", b"false", b"~"),
    *(
        b"1979-05-27",
        b"1979-05-27T25:00:00Z",
        b"2100-01-01",
        b"9999-12-31T23:59:59Z",
        b"P1D",
        b"07:60",
        b"Europe/Nowhere",
    ),
    *(b"\\ud800", b"\xff", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\xff\xfe", b"\xe2\x80\xae", b"\xc2\x9b", b"\x1b[2J"),
    *(b"..", b"/", b"../../x", b"*", b"**", b"a" * 300, b"[" * _DEEP, b'{"a":' * _DEEP, b"a." * _DEEP, b"(" * _DEEP),
    *(
        b"<<: ",
        b"&a ",
        b"*a",
        b"!!set ",
        b"!!binary ",
        b"!!timestamp ",
        b"!!int ",
        b"!!float ",
        b"!!omap ",
        b"---\n",
        b"- ",
    ),
    *(b'"""', b"'''", b"{{", b"}}", b"${", b"%s", b"\x91" * _DEEP, b"\xc1", b"\xdf\xff\xff\xff\xff", b"<a>" * _DEEP),
)


def mutated(chance: Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """One to five changes of the input. `others` are inputs that it may take a piece of."""
    made = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 3, 5))):
        if not made:
            made = bytearray(b"x")
        _change(chance, made, others)
    return bytes(made[:BYTES_MAX])


def _change(chance: Random, made: bytearray, others: Sequence[bytes]) -> None:
    at = chance.randrange(len(made))
    match chance.randrange(8):
        case 0 | 1:
            made[at : at + chance.choice((0, 0, 1, 3, 10))] = chance.choice(DICTIONARY)
        case 2:
            made[at] ^= 1 << chance.randrange(8)
        case 3:
            made[at] = chance.randrange(256)
        case 4:
            begin, length = chance.randrange(len(made)), chance.choice((1, 4, 20, 100))
            made[at:at] = made[begin : begin + length]
        case 5:
            del made[at : at + chance.choice((1, 3, 20, 100))]
        case 6:
            other = chance.choice(others)
            begin, length = chance.randrange(len(other) + 1), chance.choice((4, 20, 100))
            made[at:at] = other[begin : begin + length]
        case _:
            places = [found.span() for found in _TOKEN.finditer(bytes(made[:BYTES_MAX]))]
            if places:
                (begin, end), (first, last) = chance.choice(places), chance.choice(places)
                made[begin:end] = chance.choice((bytes(made[first:last]), chance.choice(DICTIONARY)))
