"""Prompts as arms on a model server, a judge that compares their answers, and rate limits that are nobody's failure."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from apps.evals.specs import evaluated
from hosts.executors.model_server import ModelServer, Reply, says
from surfaces.cli.console import Console

SPEC = """
[eval]
name = "e"
replications = 2
[[arm]]
name = "short"
prompt = "Briefly: {prompt}"
host = "model"
prices = { tokens_in = 1000000, tokens_out = 0 }
[[arm]]
name = "long"
prompt = "At length: {prompt}"
host = "model"
[[case]]
name = "c"
prompt = "What is {thing}?"
values = { thing = "a clutch" }
[[scorer]]
name = "better"
type = "pairwise"
host = "judge"
[[scorer]]
name = "lengthy"
type = "contains"
text = "at length"
"""


class Answering(ModelServer):
    """Says back how it was asked; refuses the first call of every prompt if it is told to."""

    refuses = False

    def _reply_to(self, body: dict[str, Any]) -> Reply:
        asked = body["messages"][-1]["content"]
        if self.refuses and [each["messages"][-1]["content"] for each in self.asked].count(asked) == 1:
            return Reply({"error": {"message": "slow down"}}, status=429, headers={"retry-after": "0"})
        return says(asked.lower())


class Judge(ModelServer):
    """Prefers the longer answer, in whichever place it stands; a biased one the first, whatever it says."""

    biased = False

    def _reply_to(self, body: dict[str, Any]) -> Reply:
        first = body["messages"][-1]["content"].split("</answer-1>")[0]
        return says(f"Reason.\nVerdict: {1 if self.biased or 'at length' in first else 2}")


@asynccontextmanager
async def servers(
    console: Console, refuses: bool = False, biased: bool = False
) -> AsyncIterator[tuple[Answering, Judge]]:
    answering, judge = Answering(), Judge()
    answering.refuses, judge.biased = refuses, biased
    await answering.start()
    await judge.start()
    console.config(
        f'[hosts.model]\ntype = "openai"\nurl = "{answering.url}"\nmodel = "m"\n'
        f'[hosts.judge]\ntype = "openai"\nurl = "{judge.url}"\nmodel = "j"\nkinds = ["judging"]\n'
    )
    console.write("spec.toml", SPEC)
    try:
        yield answering, judge
    finally:
        await answering.stop()
        await judge.stop()


async def test_a_judge_sees_both_answers_in_both_places_and_the_baseline_has_a_half(console: Console) -> None:
    async with servers(console) as (answering, judge):
        record = await evaluated(console, concurrency=2)
    assert {asked["messages"][-1]["content"] for asked in answering.asked} == {
        "Briefly: What is a clutch?",
        "At length: What is a clutch?",
    }
    scores = {outcome.key: outcome.scores for outcome in record.outcomes}
    for replication in (1, 2):
        assert scores["short", "c", replication] == {"better": 0.5, "lengthy": 0.0}
        assert scores["long", "c", replication] == {"better": 1.0, "lengthy": 1.0}
    assert len(judge.asked) == 4
    firsts = ["at length" in asked["messages"][-1]["content"].split("</answer-1>")[0] for asked in judge.asked]
    assert sorted(firsts) == [False, False, True, True]
    assert {outcome.cost for outcome in record.outcomes} == {7.0, None}
    assert {outcome.tokens_out for outcome in record.outcomes} == {11}


async def test_a_judge_that_always_takes_the_first_finds_no_difference(console: Console) -> None:
    async with servers(console, biased=True):
        record = await evaluated(console, concurrency=2)
    assert {outcome.scores["better"] for outcome in record.outcomes} == {0.5}


async def test_a_rate_limit_is_waited_out_counted_and_scored_by_the_answer_that_came(console: Console) -> None:
    async with servers(console, refuses=True):
        record = await evaluated(console)
    assert {outcome.state for outcome in record.outcomes} == {"scored"}
    assert sum(outcome.troubles.rate_limited for outcome in record.outcomes) == 2
    assert {outcome.scores["lengthy"] for outcome in record.outcomes if outcome.arm == "long"} == {1.0}
