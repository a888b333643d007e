"""`physim strategy`: the two-player game solved."""

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
    source_options,
    specs_of,
)
from physim.cli.options import file_path, json_option, whole_number
from physim.cli.output import clean_stdout, print_json
from physim.cli.tournament import MAX_GAMES, MAX_PLAYERS, STRATEGIES
from physim.errors import ConfigError

if TYPE_CHECKING:
    from physim.play.strategies import Strategy
    from physim.play.study import Study

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
        from physim.play import heat_map as picture
        from physim.play.players import make_players
        from physim.play.solver import check_solvable
        from physim.play.study import study
        from physim.play.study_output import to_json, to_text
        from physim.validation.plot import need_plots

        specs = specs_of(players, more_players)
        if len(specs) > MAX_PLAYERS:
            raise ConfigError(f"at most {MAX_PLAYERS} players, found {len(specs)}; name fewer")
        rule_set = rules_of(rules, target, changes)
        check_solvable(rule_set)
        if heat_map is not None:
            picture.check_picture(heat_map)
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
            picture.plot_heat_map(result, heat_map)
        if as_json:
            print_json({**to_json(result), "players": against}, stdout)
            return
        stdout.write(to_text(result) + "\n")
        for line in _player_lines(against):
            stdout.write(line + "\n")


def _against_optimal(
    result: Study, players: list[Strategy], games: int | None, seed: int
) -> list[dict[str, Any]]:
    from physim.play.players import make_players
    from physim.play.policies import win_rate
    from physim.play.tournament import Tournament, run
    from physim.statistics.intervals import clopper_pearson

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
