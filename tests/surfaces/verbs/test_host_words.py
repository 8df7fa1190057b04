"""What is said of a host is true, also where nobody wrote a config."""

from pathlib import Path

from manyhands.core.events import HostsConfigured
from manyhands.core.scheduler import Scheduler
from manyhands.sources.config.config_reading import load_config
from manyhands.surfaces.verbs.host_verbs import host_row


def test_without_a_config_no_reason_speaks_of_one(tmp_path: Path) -> None:
    hosts = load_config(tmp_path, environ={}).core_hosts()
    scheduler = Scheduler()
    scheduler.handle([HostsConfigured(0.0, hosts)])
    reasons = [host_row(host, scheduler.book.hosts[host.name]).why for host in hosts]
    assert reasons
    assert [why for why in reasons if "config" in why] == []
