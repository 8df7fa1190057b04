"""The story of a task says when it does not reach to the end of the journal."""

from helpers import Player, a_host, a_task
from manyhands.surfaces.api.offline import OfflineRequest, told_story


def test_a_story_that_ends_before_the_journal_does_says_so() -> None:
    player = Player(a_host())
    player.open(a_task("a"))
    journal = list(enumerate(player.journal, 1))
    whole = OfflineRequest("story", "", True, "r", "a", events_max=len(journal))
    assert [told.text for told in told_story(journal, whole, str).story] == ["submitted", "attempt 1 on local starts"]
    assert told_story(journal, whole, str).truncated is False
    short = OfflineRequest("story", "", True, "r", "a", events_max=len(journal) - 1)
    assert told_story(journal, short, str).truncated is True
