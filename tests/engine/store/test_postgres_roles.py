"""Least privilege: the grants of docs/postgres.md, as they stand there, are enough, and each role can do no more."""

import re
import secrets
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from manyhands.core.events import RunDrained, Woke
from manyhands.engine.store.contract.samples import SeriesSample
from manyhands.engine.store.postgres import postgres_schema
from manyhands.engine.store.postgres.database_place import place_of
from manyhands.engine.store.store_opening import make, open_journal, open_reader, open_requests, open_series
from manyhands.errors import StoreBroken
from postgres_server import PostgresServer

DOC = Path(__file__).parents[3] / "docs" / "postgres.md"


class Roles:
    """The statements of the page, with our own names instead of those it uses."""

    def __init__(self, server: PostgresServer) -> None:
        mark = secrets.token_hex(4)
        self._server = server
        self.project = f"journal_{mark}"
        self.names = {name: f"{name}_{mark}" for name in ("mh_owner", "mh_dispatcher", "mh_submitter", "mh_reader")}
        blocks = re.findall(r"^```sql\n(.*?)^```", DOC.read_text(), re.MULTILINE | re.DOTALL)
        assert len(blocks) == 2, "the schema and its owner, then what the others are granted"
        self.make_schema, self.grant = (self._ours(block) for block in blocks)

    def _ours(self, statements: str) -> str:
        text = re.sub(r"\bmanyhands\b", self.project, statements)
        return re.sub(r"\bmh_\w+", lambda found: self.names[found[0]], text)

    def run(self, statements: str, user: str = "") -> None:
        url = self._server.url(user=self.names[user]) if user else self._server.url()
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(statements.encode())

    def url(self, name: str) -> str:
        return self._server.url(project=self.project, user=self.names[name])


@pytest.fixture
def roles(postgres_server: PostgresServer) -> Roles:
    roles = Roles(postgres_server)
    roles.run(roles.make_schema)
    return roles


def test_a_role_that_owns_its_schema_and_nothing_else_makes_and_leads_a_journal(roles: Roles) -> None:
    with closing(open_journal(roles.url("mh_owner"))) as journal:
        assert journal.append([Woke(1.0)]) == 1


def test_each_role_does_its_part_with_what_it_was_granted(roles: Roles) -> None:
    make(roles.url("mh_owner"))
    roles.run(roles.grant, "mh_owner")
    with closing(open_journal(roles.url("mh_dispatcher"))) as journal:
        with closing(open_requests(roles.url("mh_submitter"))) as requests:
            id = requests.ask(RunDrained(0.0, "r"))
            assert requests.heard
        journal.append([Woke(1.0)], answered=[id])
        journal.save_snapshot(1, b"one")
        with closing(open_series(roles.url("mh_dispatcher"))) as series:
            series.keep(SeriesSample(1.0, {}, {}))
        with closing(open_reader(roles.url("mh_reader"))) as reader:
            assert [event.at for _, event in reader.read()] == [1.0]
            assert reader.latest_snapshot() == (1, b"one")
            assert reader.requests() == []


@pytest.mark.parametrize(
    ("role", "statement"),
    [
        ("mh_dispatcher", "DELETE FROM {}.batch"),
        ("mh_dispatcher", "UPDATE {}.batch SET crc = 0"),
        ("mh_dispatcher", "DROP TABLE {}.batch"),
        ("mh_submitter", "INSERT INTO {}.batch VALUES (1, 1, '')"),
        ("mh_submitter", "UPDATE {}.lease SET token = token + 1"),
        ("mh_submitter", "DELETE FROM {}.request"),
        ("mh_reader", "INSERT INTO {}.request (key, crc, body) VALUES (1, 1, '')"),
        ("mh_reader", "CREATE TABLE {}.mine ()"),
    ],
)
def test_no_role_can_do_more_than_its_part(roles: Roles, role: str, statement: str) -> None:
    make(roles.url("mh_owner"))
    roles.run(roles.grant, "mh_owner")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        roles.run(statement.format(roles.project), role)


def test_who_may_not_do_something_is_told_where_it_is_written(roles: Roles) -> None:
    make(roles.url("mh_owner"))
    roles.run(roles.grant, "mh_owner")
    with pytest.raises(StoreBroken, match="permission denied") as refused:
        open_journal(roles.url("mh_submitter"))
    assert "docs/postgres.md" in refused.value.hint


def test_who_may_not_make_the_schema_is_told_what_an_administrator_should_do(
    roles: Roles, postgres_server: PostgresServer
) -> None:
    url = postgres_server.url(project="not_there", user=roles.names["mh_owner"])
    with pytest.raises(StoreBroken, match="may not create the schema `not_there`") as refused:
        open_journal(url)
    assert f"CREATE SCHEMA not_there AUTHORIZATION {roles.names['mh_owner']}" in refused.value.hint


def test_a_schema_that_has_other_tables_is_left_alone(postgres_server: PostgresServer, postgres_url: str) -> None:
    project = place_of(postgres_url).project
    with psycopg.connect(postgres_server.url(), autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {project}; CREATE TABLE {project}.invoices ()".encode())
    with pytest.raises(StoreBroken, match="not those of a manyhands journal"):
        open_journal(postgres_url)


def test_a_journal_of_a_newer_version_is_refused_and_one_of_an_older_brought_up_to_date(postgres_url: str) -> None:
    make(postgres_url)
    place = place_of(postgres_url)
    with postgres_schema.connect(place) as connection:
        later = {**postgres_schema.MIGRATIONS, postgres_schema.VERSION + 1: "ALTER TABLE batch ADD COLUMN note text"}
        postgres_schema.migrate(connection, place, later)
    for opening in (open_journal, open_reader, open_requests):
        with pytest.raises(StoreBroken, match=f"has schema {postgres_schema.VERSION + 1}"):
            opening(postgres_url)
    with postgres_schema.connect(place) as connection:
        connection.execute("UPDATE journal SET version = 0")
        with pytest.raises(psycopg.errors.DuplicateTable):  # it begins where the journal is, not anew
            postgres_schema.migrate(connection, place, postgres_schema.MIGRATIONS)
