"""Text for a terminal, without what a terminal would obey: this is the one place where that is taken out.

Titles and output come from tasks. Raw, they could clear the screen, rename the window or forge lines of the program.
"""

import re

#: Sequences that terminals act on: CSI (colours, the cursor), OSC (titles, links, the clipboard), and others.
_SEQUENCE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[ -/]*[0-~]"
)
#: Single characters that move or hide text: controls, halves of surrogate pairs, and marks that turn its direction.
_ODD = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def for_terminal(text: str) -> str:
    """The text with sequences left out, and odd characters shown as JSON writes them: `\\u001b`."""
    if not _ODD.search(text):
        return text
    return _ODD.sub(lambda found: f"\\u{ord(found[0]):04x}", _SEQUENCE.sub("", text))


def output_for_terminal(text: str) -> str:
    """The same for what a command printed: it may end its lines, or begin them again, with a carriage return."""
    return for_terminal(text.replace("\r\n", "\n").replace("\r", "\n"))
