"""URLs of databases: what goes to libpq, what is ours, and what is never shown."""

import psycopg
import pytest

from manyhands.engine.store.postgres.database_place import place_of
from manyhands.engine.store.store_opening import open_journal, printable
from manyhands.errors import ConfigError, ManyhandsError
from manyhands.sources.config.database_url import without_secrets
from postgres_server import PostgresServer

SECRETS = [
    "postgresql://ada:geheim@db.example/work",
    "postgresql://ada:geheim@db.example:5433,other:5432/work?project=night&sslmode=verify-full",
    "postgresql://ada@db.example/work?password=geheim&sslpassword=geheim",
    "postgresql://ada:ge%40heim%2Fgeheim@/work?host=/run/postgresql",
    "postgres://:geheim@db.example/work",
]


@pytest.mark.parametrize("url", SECRETS)
def test_no_secret_of_a_url_is_ever_shown(url: str) -> None:
    place = place_of(url)
    for text in (str(place), repr(place), printable(url), without_secrets(url)):
        assert "geheim" not in text
        assert "heim" not in text
    assert "geheim" in place.conninfo


@pytest.mark.parametrize("url", SECRETS)
def test_errors_about_a_url_do_not_quote_its_password(url: str) -> None:
    for wrong in ("wrong_option=1", "project=Not-A-Name"):
        with pytest.raises(ConfigError) as refused:
            place_of(url + ("&" if "?" in url else "?") + wrong)
        assert "heim" not in f"{refused.value.message} {refused.value.hint}"


def test_options_of_tls_and_all_others_go_to_libpq_as_they_are() -> None:
    place = place_of(
        "postgresql://ada@db/work?sslmode=verify-full&sslrootcert=/etc/ca.pem&sslcert=/a.crt&sslkey=/a.key"
        "&target_session_attrs=read-write&connect_timeout=7&project=night"
    )
    given = psycopg.conninfo.conninfo_to_dict(place.conninfo)
    assert place.project == "night"
    assert given["sslmode"] == "verify-full"
    assert given["sslrootcert"] == "/etc/ca.pem"
    assert (given["sslcert"], given["sslkey"]) == ("/a.crt", "/a.key")
    assert given["target_session_attrs"] == "read-write"
    assert given["connect_timeout"] == "7"
    assert "project" not in given


def test_two_projects_in_one_database_are_two_journals(postgres_server: PostgresServer) -> None:
    with_default, other = place_of(postgres_server.url()), place_of(postgres_server.url(project="other"))
    assert (with_default.project, other.project) == ("manyhands", "other")
    assert str(other).endswith("project=other")


def test_a_server_that_is_not_there_is_named_without_the_password() -> None:
    with pytest.raises(ManyhandsError, match="cannot reach the store") as refused:
        open_journal("postgresql://ada:geheim@127.0.0.1:1/work")
    assert "geheim" not in refused.value.message
