"""Scripts that let a shell complete verbs, options and their choices."""

from __future__ import annotations

import argparse

BASH = """\
_river_budget() {{
    COMPREPLY=()
    local word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}" found=""
    if [ "$COMP_CWORD" -eq 1 ]; then found="{verbs}"; else
    case "${{COMP_WORDS[1]}} $before" in
{choices}
    esac
    if [ -z "$found" ]; then case "${{COMP_WORDS[1]}}" in
{options}
    esac; fi; fi
    case "$word:$found" in -*:*|*:[!-]*) COMPREPLY=($(compgen -W "$found" -- "$word"));; esac
}}
complete -o default -F _river_budget river-budget"""
ZSH = "autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n"


def script(verbs: dict[str, argparse.ArgumentParser], shell: str) -> str:
    """The script for these verbs and their options, in bash, zsh or fish."""
    if shell == "fish":
        return "\n".join(_of_fish(verbs))
    choices, options = [], []
    for name, verb in verbs.items():
        named = [action for action in verb._actions if action.option_strings]
        options.append(f'    {name}) found="{" ".join(a.option_strings[-1] for a in named)}";;')
        choices += [
            f'    "{name} {action.option_strings[-1]}") found="{" ".join(map(str, action.choices))}";;'  # noqa: E501
            for action in named
            if action.choices
        ]
    made = BASH.format(
        verbs=" ".join(verbs), choices="\n".join(choices), options="\n".join(options)
    )
    return ZSH + made if shell == "zsh" else made


def _of_fish(verbs: dict[str, argparse.ArgumentParser]) -> list[str]:
    lines = [f"complete -c river-budget -n __fish_use_subcommand -a {name}" for name in verbs]
    for name, verb in verbs.items():
        for action in verb._actions:
            if action.option_strings:
                long = action.option_strings[-1].removeprefix("--")
                line = f"complete -c river-budget -n '__fish_seen_subcommand_from {name}' -l {long}"
                chosen = f" -x -a '{' '.join(map(str, action.choices))}'" if action.choices else ""
                lines.append(line + chosen)
    return lines
