"""What attempts have used, in words."""


def money(cost: float) -> str:
    """Two digits after the point, or four for small sums."""
    return f"{cost:,.2f}" if cost >= 1 else f"{cost:.4f}"


def used(tokens: int, cost: float | None) -> list[str]:
    words = [f"{tokens:,} tokens"] if tokens else []
    return words if cost is None else [*words, f"cost {money(cost)}"]


def spending(spent_s: float, tokens: int, cost: float | None) -> str:
    return ", ".join([f"{spent_s:.1f} s", *used(tokens, cost)])
