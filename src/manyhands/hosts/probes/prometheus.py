"""Picks a few values from a Prometheus text page."""

import math

from manyhands.readers.no_answer import NoAnswer


def values_of(page: bytes, names: tuple[str, ...]) -> dict[str, list[float]]:
    """Each name's values, one per set of labels (engines, models). Names that the page lacks are left out."""
    from prometheus_client.parser import text_string_to_metric_families

    try:
        text = page.decode()
    except UnicodeDecodeError:
        raise NoAnswer("the metrics page is not text") from None
    # A page has thousands of histogram lines. Parsing those we do not need would block the loop.
    wanted = "\n".join(line for line in text.splitlines() if line.startswith(names))
    found: dict[str, list[float]] = {}
    try:
        for family in text_string_to_metric_families(wanted + "\n"):
            for sample in family.samples:
                if sample.name in names:
                    found.setdefault(sample.name, []).append(float(sample.value))
    except (ValueError, OverflowError) as error:
        raise NoAnswer(f"the metrics page cannot be parsed: {error}") from None
    for name, values in found.items():
        if not all(math.isfinite(value) for value in values):
            raise NoAnswer(f"impossible answer: {name} is {values}")
    return found
