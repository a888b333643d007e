"""`physim strategy`: the two-player game solved; `physim tournament`: many games of strategies."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import click

from physim.cli.game_options import (
    STRATEGIES,
    check_output,
    distribution_of,
    players_of,
    players_option,
    progress_line,
    rules_of,
    solved,
    study_options,
)
from physim.cli.options import file_path, printed, whole_number, workers_option
from physim.errors import ConfigError

MAX_GAMES = 10**9
MAX_PLAYERS = 100
RESAMPLES = 20


@click.command()
@players_option(f"At least two of: {STRATEGIES}. Without it, hold:20 hold:23 optimal.")
@click.option(
    "--games",
    type=whole_number(1, MAX_GAMES),
    default=10_000,
    metavar="N",
    help="Of each pair, or of the one table.",
)
@click.option("--together", is_flag=True, help="All players at one table, in place of all pairs.")
@workers_option
@study_options
@printed
def tournament(
    games: int, together: bool, workers: int | None, seed: int, **options: Any
) -> tuple[Any, str]:
    """Play many games between strategies: each pair, or all at one table.

    Everybody begins equally often. A player of a table of more than two may be out after a
    piggyback; a game of 100,000 throws is given up and won by nobody, and 20 of them without a
    game that ended end the tournament.
    """
    from physim.dataset.workers import cores
    from physim.game.outcomes import odds
    from physim.strategy.policies import make_players
    from physim.strategy.tournament import Tournament, run, to_json, to_text

    specs = players_of(options) or ["hold:20", "hold:23", "optimal"]
    if not 2 <= len(specs) <= MAX_PLAYERS:
        raise ConfigError(
            f"a tournament has 2 to {MAX_PLAYERS} players, found {len(specs)}; "
            "name them after --players"
        )
    rules = rules_of(options)
    distribution = distribution_of(options["source"], options["rolls"], seed)
    odds(distribution, rules)  # refuses what no game would end with
    players = make_players(
        specs,
        rules,
        distribution,
        seats=len(specs) if together else 2,
        solution=lambda: solved(distribution, rules),
    )
    plan = Tournament(tuple(players), rules, distribution, games, seed, together)
    with closing(progress_line("games")) as line:
        result = to_json(plan, run(plan, workers or cores(), line))
    return result, to_text(result)


@click.command()
@players_option(f"Also how these fare against optimal play: {STRATEGIES}.")
@click.option(
    "--games",
    type=whole_number(1, MAX_GAMES),
    metavar="N",
    help="Plays that many games of each of the players against optimal play as well.",
)
@click.option(
    "--resamples",
    type=whole_number(0, 10_000),
    metavar="N",
    help="Games solved with samples drawn anew, for intervals; 0 leaves those out. Without it "
    f"{RESAMPLES}, or 0 for targets above 100.",
)
@click.option(
    "--heat-map",
    type=file_path,
    metavar="FILE",
    help="Draws hold values and win probabilities by score (.png, .pdf, .svg).",
)
@study_options
@printed
def strategy(
    games: int | None, resamples: int | None, heat_map: Path | None, seed: int, **options: Any
) -> tuple[Any, str]:
    """Solve the game of two players exactly: when to hold, who wins, when a Hog Call pays.

    Hog Calls are not part of the game that is solved; what a single one does is told beside it.
    """
    from physim.figures import need_plots
    from physim.strategy.solver import SOON, check_solvable
    from physim.strategy.study import plot_heat_map, study, to_json, to_text
    from physim.strategy.tournament import against_optimal, against_text

    specs = players_of(options)
    if len(specs) > MAX_PLAYERS:
        raise ConfigError(f"at most {MAX_PLAYERS} players, found {len(specs)}; name fewer")
    rules = rules_of(options)
    check_solvable(rules)
    if heat_map is not None:
        check_output("--heat-map", heat_map, ".png", ".pdf", ".svg")
        need_plots("leave out --heat-map")
    distribution = distribution_of(options["source"], options["rolls"], seed)
    if resamples is None:
        resamples = RESAMPLES if rules.target <= SOON else 0
    with closing(progress_line()) as line:
        result = study(distribution, rules, resamples=resamples, seed=seed, progress=line.note)
    with closing(progress_line("games")) as line:
        against = against_optimal(
            specs, distribution, result.solution, games=games or 0, seed=seed, progress=line
        )
    if heat_map is not None:
        plot_heat_map(result, heat_map)
    plain = {**to_json(result), "players": against}
    return plain, f"{to_text(result)}\n{against_text(against)}"
