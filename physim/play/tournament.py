"""Many games: round robins, or all players at one table; the same for any number of workers.

Games come in blocks with a random stream each, keyed by the seed and the block's number. Within a
block the seats rotate, so that everybody begins equally often, whatever the rule set says of the
first player.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from dataclasses import dataclass, field
from itertools import combinations

from physim.batch.processes import begin, context, end_all, possible
from physim.errors import ConfigError, WorkerError
from physim.files import told
from physim.game.distribution import Distribution
from physim.game.outcomes import Drawn
from physim.game.state import State
from physim.play.match import MOST_THROWS, play
from physim.play.strategies import Strategy
from physim.rules.ruleset import RuleSet
from physim.seeding import stream

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
    begin(("physim.play.tournament",))
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
