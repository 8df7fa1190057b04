"""How many no-op tasks a second, every event on disk, beside the fastest durable peers in the same run?

The goals: 1.5 × NATS JetStream and 3 × Huey on SQLite where both survive kill -9; 3 × NATS with fsync where both
survive a power cut. Each engine is measured three times, in turns; the best of each counts.
"""

from noop import measure
from peers import huey_sqlite, nats_jetstream
from record import record

QUESTION = "durable_throughput"
COUNT = 20_000
ROUNDS = 3


def main() -> None:
    engines = {
        "manyhands crash": lambda: measure(COUNT, "crash").tasks_per_s,
        "manyhands power": lambda: measure(COUNT, "power").tasks_per_s,
        "huey sqlite": lambda: huey_sqlite.tasks_per_second(COUNT),
        "nats jetstream": lambda: nats_jetstream.tasks_per_second(COUNT),
        "nats jetstream fsync": lambda: nats_jetstream.tasks_per_second(COUNT // 4, fsync=True),
    }
    best = dict.fromkeys(engines, 0.0)
    for _ in range(ROUNDS):
        for name, run in engines.items():
            best[name] = max(best[name], run())
    for name, rate in best.items():
        print(f"{name:<22} {rate:>10,.0f} tasks/s")
        record(QUESTION, {"engine": name, "tasks": COUNT}, rate, "tasks/s")
    for ours, theirs, goal in (
        ("manyhands crash", "nats jetstream", 1.5),
        ("manyhands crash", "huey sqlite", 3.0),
        ("manyhands power", "nats jetstream fsync", 3.0),
    ):
        ratio = best[ours] / best[theirs]
        print(f"{ours} / {theirs}: {ratio:.2f} (goal {goal}){'' if ratio >= goal else '  MISSED'}")
        record(QUESTION, {"ratio": f"{ours} / {theirs}", "goal": goal}, ratio, "ratio")


if __name__ == "__main__":
    main()
