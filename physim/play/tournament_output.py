"""The result of a tournament as JSON and as text of 80 columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from physim.play.players import distinct_names
from physim.play.tournament import Tally, Tournament
from physim.rules.ruleset import to_options
from physim.statistics.intervals import clopper_pearson

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
