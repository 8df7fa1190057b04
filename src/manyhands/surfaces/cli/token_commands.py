"""`manyhands token`: its declarations."""

from typing import Annotated

from manyhands.surfaces.api.token_scope import TokenScope
from manyhands.surfaces.cli.options import OutputOption
from manyhands.surfaces.cli.parsing.declarations import Argument, Noun, Option
from manyhands.surfaces.cli.printing import OutputFormat
from manyhands.surfaces.cli.settings import Settings

TokenName = Annotated[str, Argument("NAME", help="The name of the token; `owner` is the one in the file `token`.")]


def token(settings: Settings, output: OutputOption = OutputFormat.TABLE) -> None:
    """List who holds a token of this store, and what it allows."""
    from manyhands.surfaces.cli.token_keeping import list_tokens

    list_tokens(output, settings)


noun = Noun(token)


@noun.verb("add")
def token_add(
    name: Annotated[str, Argument("NAME", help="Who will hold it. The audit trail has this name.")],
    settings: Settings,
    scope: Annotated[TokenScope, Option("--scope", help="What it allows.")] = TokenScope.READ,
) -> None:
    """Make a token for somebody and print it. It is printed only once."""
    from manyhands.surfaces.cli.token_keeping import add_token

    add_token(name, scope, settings)


@noun.verb("rotate")
def token_rotate(name: TokenName, settings: Settings) -> None:
    """Replace a token by a new one and print that. The old one stops working at once."""
    from manyhands.surfaces.cli.token_keeping import replace_token

    replace_token(name, settings)


@noun.verb("revoke")
def token_revoke(
    name: Annotated[str, Argument("NAME", help="The name of the token.")],
    settings: Settings,
) -> None:
    """Delete a token. It stops working at once."""
    from manyhands.surfaces.cli.token_keeping import take_token_away

    take_token_away(name, settings)
