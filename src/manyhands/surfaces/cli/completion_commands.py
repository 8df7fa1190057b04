"""`manyhands completion`: its declarations."""

from collections.abc import Sequence
from typing import Annotated

from manyhands.surfaces.cli.parsing.declarations import Argument, Noun
from manyhands.surfaces.cli.printing import put, put_lines

_BASH = """\
_manyhands() {
    local IFS=$'\\n' word=${COMP_WORDS[COMP_CWORD]}
    COMPREPLY=($(manyhands completion words -- "${COMP_WORDS[@]:1:COMP_CWORD-1}" "$word" 2>/dev/null | cut -f1))
}
complete -o default -o bashdefault -F _manyhands manyhands
"""
_ZSH = """\
#compdef manyhands
_manyhands() {
    local -a found told
    found=("${(@f)$(manyhands completion words -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    if [[ -n "${found[1]}" ]]; then
        told=("${(@)found//:/\\\\:}")
        told=("${(@)told/$'\\t'/:}")
        _describe 'manyhands' told
    else
        _files
    fi
}
compdef _manyhands manyhands
"""
_FISH = """\
function __manyhands_words
    set -l found (manyhands completion words -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c manyhands -f -a '(__manyhands_words)'
"""

noun = Noun(text="Print the script that completes commands, options, tasks, runs and hosts in your shell.")


@noun.verb("bash")
def completion_bash() -> None:
    """Print the script for bash. Add `eval "$(manyhands completion bash)"` to ~/.bashrc."""
    put(_BASH)


@noun.verb("zsh")
def completion_zsh() -> None:
    """Print the script for zsh. Add `eval "$(manyhands completion zsh)"` to ~/.zshrc, after `compinit`."""
    put(_ZSH)


@noun.verb("fish")
def completion_fish() -> None:
    """Print the script for fish. Add `manyhands completion fish | source` to ~/.config/fish/config.fish."""
    put(_FISH)


@noun.verb("words")
def completion_words(
    words: Annotated[
        Sequence[str], Argument("WORD", help="What is typed so far, without `manyhands`, after `--`.")
    ] = (),
) -> None:
    """Print what may stand for the last word, one a line. The scripts call it."""
    from manyhands.surfaces.cli.completing import completions

    put_lines(completions(list(words)))
