"""`physim tournament`: strategies against each other, many games."""

from __future__ import annotations

from contextlib import closing

import click

from physim.cli.game import (
    distribution_of,
    players_option,
    progress_line,
    rules_of,
    rules_options,
    solved,
    specs_of,
)
from physim.cli.game import source_options as throws_options
from physim.cli.options import json_option, whole_number
from physim.cli.output import clean_stdout, print_json
from physim.errors import ConfigError

MAX_GAMES = 10**9
MAX_PLAYERS = 100
STRATEGIES = "hold:N, rolls:N, greedy, score_aware:N, hog_caller:N, optimal"


@click.command()
@players_option(f"At least two of: {STRATEGIES}. Without it, hold:20 hold:23 optimal.")
@click.option(
    "--games",
    type=whole_number(1, MAX_GAMES),
    default=10_000,
    show_default=True,
    metavar="N",
    help="Of each pair, or of the one table.",
)
@click.option("--together", is_flag=True, help="All players at one table, in place of all pairs.")
@throws_options
@rules_options
@click.option(
    "--workers",
    type=whole_number(1, 1024),
    default=1,
    show_default=True,
    metavar="W",
    help="Worker processes. The games do not depend on it.",
)
@json_option
def tournament(
    *,
    players: tuple[str, ...],
    more_players: tuple[str, ...],
    games: int,
    together: bool,
    source: str,
    rolls: int,
    seed: int,
    rules: str,
    target: str | None,
    changes: tuple[str, ...],
    workers: int,
    as_json: bool,
) -> None:
    """Play many games between strategies: each pair, or all at one table.

    Everybody begins equally often. A player of a table of more than two may be out after a
    piggyback; a game of 100,000 throws is given up and won by nobody, and 20 of them without a
    game that ended end the tournament.
    """
    with clean_stdout() as stdout:
        from physim.game.distribution import odds
        from physim.play.players import make_players
        from physim.play.tournament import Tournament, run
        from physim.play.tournament_output import to_json, to_text

        specs = specs_of(players, more_players) or ["hold:20", "hold:23", "optimal"]
        if not 2 <= len(specs) <= MAX_PLAYERS:
            raise ConfigError(
                f"a tournament has 2 to {MAX_PLAYERS} players, found {len(specs)}; "
                "name them after --players"
            )
        rule_set = rules_of(rules, target, changes)
        distribution = distribution_of(source, rolls, seed)
        odds(distribution, rule_set)  # refuses what no game would end with
        seats = len(specs) if together else 2
        made = make_players(
            specs,
            rule_set,
            distribution,
            seats=seats,
            solution=lambda: solved(distribution, rule_set),
        )
        plan = Tournament(tuple(made), rule_set, distribution, games, seed, together)
        with closing(progress_line("games")) as line:
            result = to_json(plan, run(plan, workers, line))
        if as_json:
            print_json(result, stdout)
        else:
            stdout.write(to_text(result) + "\n")
