"""What is looked at while a model host works: the server itself, a command, or an agent on its machine."""

from typing import Annotated, Literal

from msgspec import Struct

from manyhands.field_rules import (
    WEB_ADDRESS_PATTERN,
    WITHOUT_USER_PATTERN,
    CommandLine,
    SecretVariable,
    rule,
    says,
    short_for,
)

ProbeName = Literal["ollama", "vllm", "llamacpp", "nvml", "local", "none"]


class ProbeConfig(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One of these."""

    name: Annotated[ProbeName, says("The server or device to look at.")] = "none"
    run: Annotated[
        CommandLine,
        says(
            "A command that prints the memory of the device, as JSON or as the CSV of `nvidia-smi`. No shell reads it."
        ),
    ] = ()
    url: Annotated[
        str,
        rule("must not have a user name or password in it", secret=True, forbidden={"pattern": WITHOUT_USER_PATTERN}),
        rule("must be an address", 'for example "http://box:8651"', pattern=rf"{WEB_ADDRESS_PATTERN}|^$"),
        says("The address of `manyhands probe --serve` on that machine."),
    ] = ""
    token_env: Annotated[SecretVariable, says("With `url`: the environment variable that has its token.")] = ""


ServerProbe = Annotated[ProbeConfig, short_for(ProbeName, lambda name: {"name": name})]
