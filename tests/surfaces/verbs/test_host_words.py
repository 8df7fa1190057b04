"""What is said of a host is true, also where nobody wrote a config."""

from pathlib import Path

from helpers import Player, a_host, a_task
from manyhands.core.events import HostsConfigured
from manyhands.core.scheduler import Scheduler
from manyhands.core.values.ending import Ending, EndingKind
from manyhands.core.values.spending_limit import DAY_LENGTH_S, SpendingLimit
from manyhands.sources.config.config_reading import load_config
from manyhands.surfaces.verbs.host_verbs import host_row


def test_without_a_config_no_reason_speaks_of_one(tmp_path: Path) -> None:
    hosts = load_config(tmp_path, environ={}).core_hosts()
    scheduler = Scheduler()
    scheduler.handle([HostsConfigured(0.0, hosts)])
    reasons = [host_row(host, scheduler.book.hosts[host.name], 0.0).why for host in hosts]
    assert reasons
    assert [why for why in reasons if "config" in why] == []


def test_a_quiet_host_says_so_also_before_its_first_use_and_without_a_dispatcher() -> None:
    host = a_host("local", 1, quiet=((0, 6 * 60),))
    assert host_row(host, None, 60.0).why == "quiet until 06:00 UTC"
    assert host_row(host, None, 7 * 3600.0).why == "not used yet"
    player = Player(host)
    player.open(a_task("a"))
    after_dispatcher = host_row(host, player.book.hosts["local"], 7 * 3600.0)
    assert "quiet" not in after_dispatcher.why


def test_a_host_that_a_budget_holds_says_so() -> None:
    host, limit = a_host("local", 1), SpendingLimit(name="b", per="host", cost=1.0)
    player = Player()
    player.play(HostsConfigured(0.0, (host,), budgets=(limit,)))
    player.open(a_task("a"), a_task("b"))
    player.end("a", ending=Ending(EndingKind.DONE, cost=2.0))
    state = player.book.hosts["local"]
    assert host_row(host, state, player.at).why == (
        "budget b of host local is used up: cost 2.00 of at most 1.00; it begins anew at 00:00 UTC"
    )
    assert "budget" not in host_row(host, state, DAY_LENGTH_S).why
