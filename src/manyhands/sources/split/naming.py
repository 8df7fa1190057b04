"""The home directory of a set of files, and a name for people."""

from collections.abc import Sequence

#: How many directories a name contains.
_NAMED = 2


def name_of(files: Sequence[str], weights: Sequence[int], root: str = "") -> str:
    """`django/forms, tests/forms_tests +3`: the heaviest directories, and the number of the others.

    Files that are in no directory go by their own names. `root` comes before each name, with its slash.
    """
    if len(files) == 1:
        return root + files[0]
    inside: dict[str, int] = {}
    for path, weight in zip(files, weights, strict=True):
        place = path.rpartition("/")[0] or path
        inside[place] = inside.get(place, 0) + weight + 1
    heaviest = sorted(inside, key=lambda place: (-inside[place], place))
    more = f" +{len(heaviest) - _NAMED}" if len(heaviest) > _NAMED else ""
    return ", ".join(root + place for place in heaviest[:_NAMED]) + more


def home_of(files: Sequence[str], weights: Sequence[int]) -> str:
    """The deepest directory with most of the weight; the root if there is none."""
    weighed = list(zip(files, weights, strict=True))
    total = sum(w + 1 for _, w in weighed)
    best, candidates = "", weighed
    while True:
        below: dict[str, int] = {}
        for path, w in candidates:
            head, slash, _ = path[len(best) + 1 if best else 0 :].partition("/")
            if slash:
                name = f"{best}/{head}" if best else head
                below[name] = below.get(name, 0) + w + 1
        heaviest = min(below, key=lambda name: (-below[name], name), default="")
        if not heaviest or below[heaviest] * 2 <= total:
            return best
        best = heaviest
        candidates = [(path, w) for path, w in candidates if path.startswith(best + "/")]
