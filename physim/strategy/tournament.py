"""Many games: round robins, or all players at one table; the same for any number of workers.

Games come in blocks with a random stream each, keyed by the seed and the block's number. Within a
block the seats rotate, so that everybody begins equally often, whatever the rule set says of the
first player. The result is told as JSON and as text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from dataclasses import asdict, dataclass, field
from itertools import chain, combinations
from typing import Any

import numpy as np

from physim.dataset.workers import WorkerPool, begin, possible
from physim.errors import ConfigError, WorkerError
from physim.game.game_state import State
from physim.game.outcomes import Distribution, draws
from physim.rules.ruleset import RuleSet, to_options
from physim.seeding import stream
from physim.statistics.report import percent, row, share, span
from physim.statistics.tests import clopper_pearson
from physim.strategy.policies import (
    MOST_THROWS,
    Strategy,
    distinct_names,
    make_players,
    play,
    win_rate,
)
from physim.strategy.solver import Solution

MOST_GIVEN_UP = 20  # of a block's first games: these players would go on like that
BLOCK = 1_000  # games: a fraction of a second; part of what a seed means
MAX_GAMES = 10**9
_WIDTHS = (26, 12, 12, 9, 19)  # of the columns of the text
_BLOCKS_A_TABLE = 10**7  # so that no two tables share a stream


@dataclass(frozen=True)
class GameCounts:
    """Games at one table; `a + b` adds them up."""

    wins: tuple[int, ...]  # a player of the table
    first_wins: int = 0  # of the player who began
    turns: Counter[int] = field(default_factory=Counter)  # games by their turns, with a winner
    throws: int = 0
    unfinished: int = 0  # games that were given up

    @property
    def finished(self) -> int:
        return sum(self.wins)

    def __add__(self, other: GameCounts) -> GameCounts:
        return GameCounts(
            tuple(a + b for a, b in zip(self.wins, other.wins, strict=True)),
            self.first_wins + other.first_wins,
            self.turns + other.turns,
            self.throws + other.throws,
            self.unfinished + other.unfinished,
        )


@dataclass(frozen=True)
class Tournament:
    """What is to be played."""

    players: tuple[Strategy, ...]
    rules: RuleSet
    distribution: Distribution
    games: int  # a table
    seed: int
    together: bool = False  # all players at one table; otherwise each pair has one

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
) -> list[GameCounts]:
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
    tallies = [GameCounts((0,) * len(table)) for table in tournament.tables]
    tasks = tournament.tasks()
    workers = possible(min(workers, len(tasks)))
    blocks: Iterable[GameCounts] = (play_block(tournament, *task) for task in tasks)
    if workers > 1:
        blocks = _in_processes(tournament, tasks, workers)
    for (table, _), tally in zip([(0, 0), *tasks], chain([tallies[0]], blocks), strict=True):
        tallies[table] += tally
        if progress is not None:
            played = sum(tally.finished + tally.unfinished for tally in tallies)
            progress(played, tournament.games * len(tallies))
    return tallies


def play_block(tournament: Tournament, table: int, block: int) -> GameCounts:
    """The games of one block.

    Raises:
        ConfigError: the first games, `MOST_GIVEN_UP` of them, were all given up.
    """
    places = tournament.tables[table]
    seats = len(places)
    players = [tournament.players[place] for place in places]
    rng = stream(tournament.seed, table * _BLOCKS_A_TABLE + block)
    throws = draws(tournament.distribution, rng)
    tally = GameCounts((0,) * seats)
    for game in range(block * BLOCK, min((block + 1) * BLOCK, tournament.games)):
        state = State.start(tournament.rules, (0,) * seats, first=game % seats)
        play(state, players, throws)
        wins = tuple(int(seat == state.winner) for seat in range(seats))
        ended = sum(wins)
        lengths = Counter([state.turns] * ended)
        tally += GameCounts(wins, wins[state.first], lengths, state.throws, 1 - ended)
        if tally.unfinished == MOST_GIVEN_UP and not tally.finished:
            raise ConfigError(
                f"{' against '.join(player.spec for player in players)}: {MOST_GIVEN_UP} games "
                f"of {MOST_THROWS:,} throws came to no end; take other players, a lower target "
                "or a source in which more throws score"
            )
    return tally


def _in_processes(
    tournament: Tournament, tasks: Sequence[tuple[int, int]], workers: int
) -> Iterator[GameCounts]:
    begin((__name__,))
    pool = WorkerPool(workers, _receive, tournament)
    try:
        yield from pool.map(_play_here, tasks)
    except BaseException as error:
        pool.kill()
        if isinstance(error, BrokenExecutor):
            raise WorkerError(
                "a worker died (killed, or out of memory?); ask for fewer workers, or free memory"
            ) from error
        raise
    pool.shutdown()


_received: list[Tournament] = []  # of a worker process: sent once, not with every task


def _receive(tournament: Tournament) -> None:
    _received.append(tournament)


def _play_here(task: tuple[int, int]) -> GameCounts:
    return play_block(_received[-1], *task)


Json = dict[str, Any]


def to_json(tournament: Tournament, tallies: Sequence[GameCounts]) -> Json:
    """Plain values. Win rates are of all games, those given up included; intervals are exact."""
    names = distinct_names(player.spec for player in tournament.players)
    games = tournament.games
    whole = sum(tallies[1:], tallies[0])
    won = [0] * len(names)
    tables = []
    for seats, tally in zip(tournament.tables, tallies, strict=True):
        for place, wins in zip(seats, tally.wins, strict=True):
            won[place] += wins
        players = zip([names[place] for place in seats], tally.wins, strict=True)
        tables.append(_table(players, games, tally))
    each = games if tournament.together else games * (len(names) - 1)
    return {
        "source": tournament.distribution.name,
        "rules": tournament.rules.name,
        "options": to_options(tournament.rules),
        "seed": tournament.seed,
        "together": tournament.together,
        "games": games * len(tallies),
        **_table(zip(names, won, strict=True), each, whole),
        "tables": tables,
    }


def _table(players: Iterable[tuple[str, int]], games: int, tally: GameCounts) -> Json:
    """Names and wins of some players, each of so many games, and what the games were like."""
    lengths = sorted(tally.turns)
    ended = np.cumsum([tally.turns[length] for length in lengths])

    def within(share: float) -> int | None:  # turns in which so many games ended
        return lengths[np.searchsorted(ended, share * ended[-1])] if lengths else None

    turns = sum(length * games for length, games in tally.turns.items())
    return {
        "players": [{"name": name, **rate(wins, games)} for name, wins in players],
        "first_player": rate(tally.first_wins, tally.finished),
        "length": {
            "turns_mean": turns / tally.finished if lengths else None,
            "turns_median": within(0.5),
            "turns_95": within(0.95),
            "turns_most": within(1.0),
            "throws_mean": tally.throws / (tally.finished + tally.unfinished),
        },
        "unfinished": tally.unfinished,
    }


def rate(wins: int, games: int) -> Json:
    """A win rate with its exact 95 % interval."""
    return {
        "wins": wins,
        "games": games,
        "win_rate": share(wins, games),
        **asdict(clopper_pearson(wins, games)),
    }


def to_text(result: Json) -> str:
    """What `to_json` returned, in lines of 80 columns without a newline at the end."""
    who = "one table" if result["together"] else "round robin"
    first, length = result["first_player"], result["length"]
    lines = [
        f"{result['games']:,} games, {who}, rules {result['rules']} to "
        f"{result['options']['target']},",
        f"throws of {result['source']}, seed {result['seed']}",
    ]
    tables = result["tables"] if len(result["tables"]) > 1 else []
    for table in (result, *tables):
        lines += ["", row(_WIDTHS, "player", "games", "wins", "win %", "95 % interval")]
        for player in table["players"]:
            counts = f"{player['games']:,}", f"{player['wins']:,}"
            cells = player["name"], *counts, percent(player["win_rate"]), span(player)
            lines.append(row(_WIDTHS, *cells))
    lines.append("")
    if first["games"]:
        lines += [
            f"who begins wins {100 * first['win_rate']:.2f} % ({span(first)})",
            f"turns a game: {length['turns_mean']:.1f} on average, "
            f"median {length['turns_median']}, 95 % within {length['turns_95']}",
        ]
    lines.append(f"throws a game: {length['throws_mean']:.1f}")
    if result["unfinished"]:
        lines.append(f"given up, without a winner: {result['unfinished']:,} games")
    return "\n".join(lines)


def against_optimal(
    specs: Sequence[str],
    distribution: Distribution,
    solution: Solution,
    *,
    games: int = 0,
    seed: int = 0,
    progress: Callable[[int, int], None],
) -> list[Json]:
    """How strategies fare against optimal play: exactly where they can, and in games played."""
    rules, told = solution.rules, []
    made = make_players([*specs, "optimal"], rules, distribution, solution=lambda: solution)
    for number, player in enumerate(made[:-1]):
        one: Json = {"name": player.spec, "against_optimal": win_rate(player, solution)}
        if games:

            def note(played: int, games: int, before: int = number * games) -> None:
                progress(before + played, games * len(specs))

            plan = Tournament((player, made[-1]), rules, distribution, games, seed)
            (tally,) = run(plan, progress=note)
            one |= rate(tally.wins[0], games)
        told.append(one)
    return told


def against_text(rows: Sequence[Json]) -> str:
    """What `against_optimal` returned, in lines; empty where nobody was named."""
    if not rows:
        return ""
    lines = ["", f"{'against optimal play':26}{'wins':>10}{'   played' * ('games' in rows[0])}"]
    for one in rows:
        exact = one["against_optimal"]
        line = f"{one['name']:26}{'-' if exact is None else f'{exact:.4f}':>10}"
        if "games" in one:
            line += (
                f"   {one['win_rate']:.4f} of {one['games']:,} games"
                f" [{one['low']:.4f}, {one['high']:.4f}]"
            )
        lines.append(line)
    return "\n".join([*lines, ""])
