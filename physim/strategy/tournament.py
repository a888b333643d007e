"""Many games: round robins, or all players at one table; the same for any number of workers.

Games come in blocks with a random stream each, keyed by the seed and the block's number. Within a
block the seats rotate, so that everybody begins equally often, whatever the rule set says of the
first player.

The result of a tournament as JSON and as text of 80 columns.

The hold values as a picture.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from physim.dataset.processes import begin, context, end_all, possible
from physim.errors import ConfigError, WorkerError
from physim.figures import drawn
from physim.files import told
from physim.game.game_state import State
from physim.game.outcomes import Distribution, Drawn
from physim.rules.ruleset import RuleSet, to_options
from physim.seeding import stream
from physim.statistics.tests import clopper_pearson
from physim.strategy.match import MOST_THROWS, distinct_names, play
from physim.strategy.policies import Strategy
from physim.strategy.study import Study

MOST_GIVEN_UP = 20  # of a block's first games: these players would go on like that
BLOCK = 1_000  # games: a fraction of a second; part of what a seed means
MAX_GAMES = 10**9
_BLOCKS_A_TABLE = 10**7  # so that no two tables share a stream


@dataclass(frozen=True)
class Tally:
    """Games at one table; `a + b` adds them up.

    Attributes:
        wins: games that each of the table's players won.
        first_wins: games that the player who began won.
        turns: games by their number of turns, of those with a winner.
        throws: of all games.
        unfinished: games that were given up.
    """

    wins: tuple[int, ...]
    first_wins: int = 0
    turns: Counter[int] = field(default_factory=Counter)
    throws: int = 0
    unfinished: int = 0

    @property
    def finished(self) -> int:
        return sum(self.wins)

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            tuple(a + b for a, b in zip(self.wins, other.wins, strict=True)),
            self.first_wins + other.first_wins,
            self.turns + other.turns,
            self.throws + other.throws,
            self.unfinished + other.unfinished,
        )


@dataclass(frozen=True)
class Tournament:
    """What is to be played.

    Attributes:
        players: in the order in which they were named.
        rules: of every game.
        distribution: of every throw.
        games: a table.
        seed: fixes every game.
        together: all players at one table; otherwise each pair has one.
    """

    players: tuple[Strategy, ...]
    rules: RuleSet
    distribution: Distribution
    games: int
    seed: int
    together: bool = False

    @property
    def tables(self) -> list[tuple[int, ...]]:
        """The players of each table, by their places in `players`."""
        places = range(len(self.players))
        return [tuple(places)] if self.together else list(combinations(places, 2))

    def tasks(self) -> list[tuple[int, int]]:
        """Table and block, in the order in which they are added up."""
        blocks = -(-self.games // BLOCK)
        return [(table, block) for table in range(len(self.tables)) for block in range(blocks)]


def run(
    tournament: Tournament,
    workers: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> list[Tally]:
    """Plays all games.

    Args:
        tournament: what is to be played.
        workers: processes; 1 stays in this one.
        progress: called with the games played and all games.

    Returns:
        A tally a table, in the order of `tournament.tables`.

    Raises:
        WorkerError: the system has no room for so many workers, or one died.
    """
    tallies = [Tally((0,) * len(table)) for table in tournament.tables]
    tasks = tournament.tasks()
    workers = possible(min(workers, len(tasks)))
    blocks = _in_processes if workers > 1 else _in_this_process
    results = blocks(tournament, tasks, workers)
    played, games = 0, tournament.games * len(tallies)
    if progress is not None:
        progress(played, games)
    for (table, _), tally in zip(tasks, results, strict=True):
        tallies[table] += tally
        if progress is not None:
            played += tally.finished + tally.unfinished
            progress(played, games)
    return tallies


def play_block(tournament: Tournament, table: int, block: int) -> Tally:
    """The games of one block.

    Raises:
        ConfigError: the first games, `MOST_GIVEN_UP` of them, were all given up.
    """
    places = tournament.tables[table]
    seats = len(places)
    players = [tournament.players[place] for place in places]
    rng = stream(tournament.seed, table * _BLOCKS_A_TABLE + block)
    outcomes = Drawn(tournament.distribution, rng)
    wins, turns = [0] * seats, Counter[int]()
    first_wins = throws = unfinished = 0
    first_game = block * BLOCK
    for game in range(first_game, min(first_game + BLOCK, tournament.games)):
        first = game % seats
        state = State.start(tournament.rules, (0,) * seats, first)
        play(state, players, outcomes)
        throws += state.throws
        if state.winner is None:
            unfinished += 1
            if unfinished == MOST_GIVEN_UP and not any(wins):
                raise ConfigError(
                    f"{' against '.join(player.spec for player in players)}: {MOST_GIVEN_UP} games "
                    f"of {MOST_THROWS:,} throws came to no end; take other players, a lower target "
                    "or a source in which more throws score"
                )
        else:
            wins[state.winner] += 1
            first_wins += state.winner == first
            turns[state.turns] += 1
    return Tally(tuple(wins), first_wins, turns, throws, unfinished)


Tasks = Sequence[tuple[int, int]]


def _in_this_process(tournament: Tournament, tasks: Tasks, workers: int) -> Iterator[Tally]:
    del workers
    return (play_block(tournament, *task) for task in tasks)


def _in_processes(tournament: Tournament, tasks: Tasks, workers: int) -> Iterator[Tally]:
    begin(("physim.strategy.tournament",))
    pool = ProcessPoolExecutor(workers, context(), initializer=_receive, initargs=(tournament,))
    try:
        with told(WorkerError, "worker processes cannot be started"):
            tallies = pool.map(_play_here, tasks)
        yield from tallies
    except BaseException as error:
        pool.shutdown(wait=False, cancel_futures=True)
        end_all()
        if isinstance(error, BrokenExecutor):
            raise WorkerError(
                "a worker died (killed, or out of memory?); ask for fewer workers, or free memory"
            ) from error
        raise
    pool.shutdown()


_received: list[Tournament] = []  # of a worker process: sent once, not with every task


def _receive(tournament: Tournament) -> None:
    _received.append(tournament)


def _play_here(task: tuple[int, int]) -> Tally:
    return play_block(_received[-1], *task)


Json = dict[str, Any]


def to_json(tournament: Tournament, tallies: Sequence[Tally]) -> Json:
    """Plain values. Win rates are of all games, those given up included; intervals are exact."""
    names = distinct_names(player.spec for player in tournament.players)
    games = tournament.games * len(tallies)
    finished = sum(tally.finished for tally in tallies)
    first_wins = sum(tally.first_wins for tally in tallies)
    tables = list(zip(tournament.tables, tallies, strict=True))
    return {
        "source": tournament.distribution.name,
        "rules": tournament.rules.name,
        "options": to_options(tournament.rules),
        "seed": tournament.seed,
        "together": tournament.together,
        "games": games,
        "unfinished": sum(tally.unfinished for tally in tallies),
        "players": [
            {
                "name": name,
                **_rate(
                    sum(t.wins[seats.index(place)] for seats, t in tables if place in seats),
                    tournament.games * sum(place in seats for seats, _ in tables),
                ),
            }
            for place, name in enumerate(names)
        ],
        "tables": [
            {
                "players": [
                    {"name": names[place], **_rate(wins, tournament.games)}
                    for place, wins in zip(seats, tally.wins, strict=True)
                ],
                "first_player": _rate(tally.first_wins, tally.finished),
                "length": _length(tally, tournament.games),
                "unfinished": tally.unfinished,
            }
            for seats, tally in tables
        ],
        "first_player": _rate(first_wins, finished),
        "length": _length(sum(tallies[1:], tallies[0]), games),
    }


def to_text(result: Json) -> str:
    """What `to_json` returned, in lines without a newline at the end."""
    return "\n".join(line.rstrip() for line in _lines(result))


def _rate(wins: int, games: int) -> Json:
    interval = clopper_pearson(wins, games)
    return {
        "wins": wins,
        "games": games,
        "win_rate": wins / games if games else None,
        "low": interval.low,
        "high": interval.high,
    }


def _length(tally: Tally, games: int) -> Json:
    turns = sorted(tally.turns.items())
    count = sum(n for _, n in turns)
    return {
        "turns_mean": sum(length * n for length, n in turns) / count if count else None,
        "turns_median": _quantile(turns, count, 0.5),
        "turns_95": _quantile(turns, count, 0.95),
        "turns_most": turns[-1][0] if turns else None,
        "throws_mean": tally.throws / games,
    }


def _quantile(turns: Sequence[tuple[int, int]], count: int, share: float) -> int | None:
    """The least number of turns within which that share of the games ended."""
    below = 0
    for length, n in turns:
        below += n
        if below >= share * count:
            return length
    return None


def _lines(result: Json) -> Iterator[str]:
    who = "one table" if result["together"] else "round robin"
    yield (
        f"{result['games']:,} games, {who}, rules {result['rules']} to "
        f"{result['options']['target']},"
    )
    yield f"throws of {result['source']}, seed {result['seed']}"
    yield ""
    yield from _table(result["players"])
    if len(result["tables"]) > 1:
        for table in result["tables"]:
            yield ""
            yield from _table(table["players"])
    yield ""
    first, length = result["first_player"], result["length"]
    if first["win_rate"] is not None:
        span = f"{100 * first['low']:.2f} - {100 * first['high']:.2f}"
        yield f"who begins wins {100 * first['win_rate']:.2f} % ({span})"
        yield (
            f"turns a game: {length['turns_mean']:.1f} on average, "
            f"median {length['turns_median']}, 95 % within {length['turns_95']}"
        )
    yield f"throws a game: {length['throws_mean']:.1f}"
    if result["unfinished"]:
        yield f"given up, without a winner: {result['unfinished']:,} games"


def _table(players: Sequence[Json]) -> Iterator[str]:
    yield f"{'player':26}{'games':>12}{'wins':>12}{'win %':>9}{'95 % interval':>19}"
    for player in players:
        span = f"{100 * player['low']:.2f} - {100 * player['high']:.2f}"
        yield (
            f"{player['name']:26}{player['games']:>12,}{player['wins']:>12,}"
            f"{100 * player['win_rate']:>9.2f}{span:>19}"
        )


def check_picture(path: Path) -> None:
    """Refuses a file that no picture can be written to.

    Raises:
        ConfigError: another ending than .png, .pdf or .svg, or no such folder.
    """
    if path.suffix.lower() not in (".png", ".pdf", ".svg"):
        raise ConfigError(f"--heat-map {path}: the name must end in .png, .pdf or .svg")
    if not path.parent.is_dir() or path.is_dir():
        raise ConfigError(f"--heat-map {path}: cannot be written there; name a file in a folder")


def plot_heat_map(study: Study, path: Path) -> None:
    """Where optimal play holds, and the probability to win, by both scores.

    Args:
        study: with the solution.
        path: of the picture.
    """
    holds, values = study.solution.hold_values(), study.solution.values
    most = float(np.quantile(holds, 0.98))  # a few scores far behind would take all the colours
    with drawn(path, 11, 4.8) as figure:
        left, right = figure.subplots(1, 2)
        for axes, numbers, title, limits in (
            (left, holds, "optimal play holds at", (0.0, most)),
            (right, values, "probability to win before the first throw", (0.0, 1.0)),
        ):
            low, high = limits
            image = axes.imshow(numbers, origin="lower", cmap="viridis", vmin=low, vmax=high)
            axes.set_xlabel("the other player's points")
            axes.set_ylabel("own points")
            axes.set_title(title)
            figure.colorbar(image, ax=axes)
        figure.suptitle(
            f"to {study.rules.target}, rules {study.rules.name}, {study.distribution.name}"
        )
