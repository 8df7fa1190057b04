"""Where issues and pull requests are on GitHub, as the config names it."""

from typing import Annotated

from msgspec import Struct

from manyhands.field_rules import SecretVariable, WebAddress, rule, says

GITHUB_URL = "https://api.github.com"


class GithubConfig(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A repository on GitHub or on a GitHub Enterprise Server."""

    repository: Annotated[
        str,
        rule("must be OWNER/REPO", 'for example `repository = "octocat/hello"`', pattern=r"^[\w.-]+/[\w.-]+$"),
        says("The repository, as `OWNER/REPO`."),
    ]
    label: Annotated[
        str,
        rule("must name a label", pattern=r"\S"),
        says("Issues with this label are tasks. `LABEL:working`, `LABEL:failed` and `LABEL:deferred` are set on them."),
    ] = "agent"
    url: Annotated[WebAddress, says("The address of the REST API, for GitHub Enterprise Server.")] = GITHUB_URL
    token_env: Annotated[
        SecretVariable,
        says("The name of the environment variable that has the token, never the token itself."),
    ] = "GITHUB_TOKEN"
