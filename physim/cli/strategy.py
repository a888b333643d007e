"""`physim strategy`: the two-player game solved.

`physim tournament`: strategies against each other, many games.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from physim.cli.game import (
    distribution_of,
    players_option,
    progress_line,
    rules_of,
    rules_options,
    solved,
    source_options,
    specs_of,
)
from physim.cli.game import source_options as throws_options
from physim.cli.options import file_path, json_option, whole_number
from physim.cli.output import clean_stdout, print_json
from physim.errors import ConfigError

if TYPE_CHECKING:
    from physim.strategy.policies import Strategy
    from physim.strategy.study import Study

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
        from physim.game.outcomes import odds
        from physim.strategy.match import make_players
        from physim.strategy.tournament import Tournament, run, to_json, to_text

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


SOON = 100  # a target up to which a game is solved in about a second
RESAMPLES = 20


@click.command()
@source_options
@rules_options
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
    help="Games solved with samples drawn anew, for intervals; 0 leaves those out. Without it 20, "
    f"or 0 for targets above {SOON}.",
)
@click.option(
    "--heat-map",
    type=file_path,
    metavar="FILE",
    help="Draws hold values and win probabilities by score (.png, .pdf, .svg).",
)
@json_option
def strategy(
    *,
    source: str,
    rolls: int,
    seed: int,
    rules: str,
    target: str | None,
    changes: tuple[str, ...],
    players: tuple[str, ...],
    more_players: tuple[str, ...],
    games: int | None,
    resamples: int | None,
    heat_map: Path | None,
    as_json: bool,
) -> None:
    """Solve the game of two players exactly: when to hold, who wins, when a Hog Call pays.

    Hog Calls are not part of the game that is solved; what a single one does is told beside it.
    """
    with clean_stdout() as stdout:
        from physim.figures import need_plots
        from physim.strategy import tournament
        from physim.strategy.match import make_players
        from physim.strategy.solver import check_solvable
        from physim.strategy.study import study, to_json, to_text

        specs = specs_of(players, more_players)
        if len(specs) > MAX_PLAYERS:
            raise ConfigError(f"at most {MAX_PLAYERS} players, found {len(specs)}; name fewer")
        rule_set = rules_of(rules, target, changes)
        check_solvable(rule_set)
        if heat_map is not None:
            tournament.check_picture(heat_map)
            need_plots("leave out --heat-map")
        distribution = distribution_of(source, rolls, seed)
        if resamples is None:
            resamples = RESAMPLES if rule_set.target <= SOON else 0
        with closing(progress_line()) as progress:
            result = study(
                distribution, rule_set, resamples=resamples, seed=seed, progress=progress.note
            )
        made = make_players(specs, rule_set, distribution, solution=lambda: result.solution)
        against = _against_optimal(result, made, games, seed)
        if heat_map is not None:
            tournament.plot_heat_map(result, heat_map)
        if as_json:
            print_json({**to_json(result), "players": against}, stdout)
            return
        stdout.write(to_text(result) + "\n")
        for line in _player_lines(against):
            stdout.write(line + "\n")


def _against_optimal(
    result: Study, players: list[Strategy], games: int | None, seed: int
) -> list[dict[str, Any]]:
    from physim.statistics.tests import clopper_pearson
    from physim.strategy.match import make_players
    from physim.strategy.policies import win_rate
    from physim.strategy.tournament import Tournament, run

    rows = []
    for player in players:
        row: dict[str, Any] = {
            "name": player.spec,
            "against_optimal": win_rate(player, result.solution),
        }
        if games:
            (best,) = make_players(
                ["optimal"], result.rules, result.distribution, solution=lambda: result.solution
            )
            plan = Tournament((player, best), result.rules, result.distribution, games, seed)
            with closing(progress_line("games")) as progress:
                wins = run(plan, progress=progress)[0].wins[0]
            interval = clopper_pearson(wins, games)
            row |= {
                "games": games,
                "wins": wins,
                "win_rate": wins / games,
                "low": interval.low,
                "high": interval.high,
            }
        rows.append(row)
    return rows


def _player_lines(rows: list[dict[str, Any]]) -> list[str]:
    played = "   played" if any("games" in row for row in rows) else ""
    lines = ["", f"{'against optimal play':26}{'wins':>10}{played}"] if rows else []
    for row in rows:
        exact = row["against_optimal"]
        line = f"{row['name']:26}{'-' if exact is None else f'{exact:.4f}':>10}"
        if "games" in row:
            line += (
                f"   {row['win_rate']:.4f} of {row['games']:,} games"
                f" [{row['low']:.4f}, {row['high']:.4f}]"
            )
        lines.append(line)
    return lines
