"""`manyhands help`: a command's own help, or a topic in a few paragraphs."""

from collections.abc import Sequence

from manyhands.errors import UsageError
from manyhands.surfaces.cli.help_topics import TOPICS
from manyhands.surfaces.cli.main import NOUNS, answer
from manyhands.surfaces.cli.parsing.help_text import columns, named_section, paragraphs
from manyhands.surfaces.cli.parsing.word_parsing import HELP, near
from manyhands.surfaces.cli.printing import put


def show_help(topic: Sequence[str]) -> int:
    width = columns()
    if not topic:
        answer([HELP])
        rows = [(name, text.partition(". ")[0] + ".") for name, text in TOPICS.items()]
        put("\n" + named_section("Topics of `manyhands help`", rows, width) + "\n")
        return 0
    if topic[0] in NOUNS:
        return answer([*topic, HELP])
    name = " ".join(topic).lower().replace(" ", "-")
    if name not in TOPICS:
        hint = near(name, [*TOPICS, *NOUNS])
        raise UsageError(f"there is no topic `{' '.join(topic)}`{hint}", "`manyhands help` lists the topics")
    put(paragraphs(TOPICS[name], width) + "\n")
    return 0
