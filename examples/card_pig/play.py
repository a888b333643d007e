"""The card game Pig in the terminal: many games in a second, or a seat at the table.

    python examples/card_pig/play.py study --players 5 --games 1000 --seed 1
    python examples/card_pig/play.py seat --players 4

`--help` lists the variants. In the seat, the clock runs while you think.
"""

from __future__ import annotations

import argparse
import random
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields

import card_pig
from card_pig import Game, Player, Round, RuleError, Variant

NAMES = (
    "Ana",
    "Ben",
    "Cleo",
    "Dan",
    "Eva",
    "Finn",
    "Gil",
    "Hana",
    "Ivo",
    "Jo",
    "Kim",
    "Lea",
    "Max",
)
FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0)
HELP = "a card's number passes it, n touches your nose, Enter looks round, q leaves"


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; 2 is the exit code of bad input."""
    options = parsed(arguments)
    try:
        variant = Variant(**{one.name: getattr(options, one.name) for one in fields(Variant)})
        variant.check_players(options.players)
        if options.command == "study":
            if options.games < 1:
                raise RuleError("--games must be at least 1")
            print(told(variant, players_of(options), options.games, options.seed))
        else:
            seed = random.SystemRandom().getrandbits(32) if options.seed is None else options.seed
            print(f"seed {seed}; {HELP}")
            game = Game(variant, players_of(options, person=True), random.Random(seed))
            for line in seated(game, input, time.monotonic, options.tongue):
                print(line)
    except RuleError as error:
        print(f"card_pig: {error}", file=sys.stderr)
        return 2
    except (KeyboardInterrupt, EOFError) as end:
        print("\nleft the table")
        return 130 if isinstance(end, KeyboardInterrupt) else 0
    return 0


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    for name, help_text in (("study", "play many games"), ("seat", "take a seat")):
        command = commands.add_parser(name, help=help_text)
        command.add_argument("--players", type=int, default=5, help="3 to 13; fewer in variants")
        command.add_argument(
            "--policy", choices=card_pig.POLICIES, default="fewest", help="of all others"
        )
        for trait in ("--pace-s", "--reaction-s", "--attention"):  # defaults are those of `Player`
            default = getattr(Player, trait[2:].replace("-", "_"))
            command.add_argument(trait, type=positive, default=default, help="of all others")
        command.add_argument("--cards", type=int, default=4, help="in a hand: 3, 4 or 5")
        command.add_argument("--out-at-once", action="store_true", help="one letter is enough")
        command.add_argument("--talk", action="store_true", help="nobody may talk to a PIG")
        command.add_argument("--stock", action="store_true", help="the whole deck, with a stock")
        command.add_argument("--spoons", action="store_true", help="spoons in place of noses")
        command.add_argument(
            "--fire", dest="in_turn", action="store_true", help="passing in turn: Fire!"
        )
        command.add_argument("--penalty-rounds", type=int, default=0, metavar="R", help="Kilo")
        command.add_argument("--tongue", action="store_true", help="a matter of words")
        if name == "study":
            command.add_argument("--games", type=int, default=1000)
            command.add_argument("--seed", type=int, default=0)
        else:
            command.add_argument("--seed", type=int, help="else a new one")
    return parser.parse_args(arguments)


def positive(text: str) -> float:
    """A positive number."""
    value = float(text)
    if not 0.0 < value <= 1e7:
        raise argparse.ArgumentTypeError(f"a positive number, not {text}")
    return value


def players_of(options: argparse.Namespace, *, person: bool = False) -> list[Player]:
    """The table; the person sits first."""
    traits = options.pace_s, options.reaction_s, options.attention
    bots = [Player(name, *traits, policy=options.policy) for name in NAMES[: options.players]]
    return [Player("You", policy=None), *bots[1:]] if person else bots


def told(variant: Variant, players: Sequence[Player], games: int, seed: int) -> str:
    """The statistics of many games."""
    found = card_pig.study(variant, players, games, seed)
    played = sum(found.rounds)
    lines = [
        f"{games:,} games of {len(players)} players: {played / games:.1f} rounds a game "
        f"and {found.passes / max(1, played):.1f} passes a round",
        f"{found.false_touches} false first touches, {found.capped} rounds without a loser, "
        f"{found.unfinished} games without an end",
        "",
        f"{'player':10}{'rounds lost':>13}{'games won':>12}",
    ]
    lines += [
        f"{player.name:10}{100 * lost:>11.1f} %{100 * won:>10.1f} %"
        for player, lost, won in zip(players, found.lost, found.won, strict=True)
    ]
    lines += ["", f"{players[0].name} with another attention (games won):"]
    for factor, won in card_pig.worth_of_attention(variant, players, games, seed, FACTORS):
        error = (won * (1.0 - won) / games) ** 0.5
        lines.append(f"{factor:>6g} times{100 * won:>9.1f} % ± {100 * error:.1f}")
    return "\n".join(lines)


def seated(
    game: Game, answer: Callable[[str], str], clock: Callable[[], float], tongue: bool = False
) -> Iterator[str]:
    """A game with a person in the first seat, line by line; the clock [s] runs meanwhile."""
    sign = "a spoon is gone" if game.variant.spoons else "tongue out" if tongue else "nose touched"
    while not game.over and 0 in game.playing:
        names = [game.players[number].name for number in game.playing]
        done = game.deal()
        yield f"\nRound {game.rounds + 1}; {names[done.dealer]} dealt."
        began_s = clock()
        while not done.over:
            done.run(clock() - began_s)
            seen = ", ".join(names[seat] for seat in done.touched)
            if done.over or not asked(done, answer, clock, began_s, f"{sign}: {seen}" * bool(seen)):
                break
        if not done.over:
            yield "left the table"
            return
        out = game.score(done)
        if done.loser is None:
            yield "Nobody got there: the round is dealt again."
        else:
            why = "too early, without the cards" if done.false_touch else "the last one"
            yield f"{names[done.loser]} lost the round ({why})."
        yield "   ".join(standing(game, number) for number in range(len(game.players)))
        yield from (f"{game.players[number].name} is out." for number in out)
    if not game.over:
        game.play()  # the others go on without the person
    yield "Won: " + (" and ".join(game.players[number].name for number in game.winners) or "nobody")


def standing(game: Game, number: int) -> str:
    """A player's letters, or kilos."""
    name = game.players[number].name
    if game.variant.penalty_rounds:
        return f"{name} {card_pig.kilos_of(game.kilos[number])} kilos"
    return f"{name} {game.variant.word[: game.letters[number]] or '-'}"


def asked(
    done: Round, answer: Callable[[str], str], clock: Callable[[], float], began_s: float, seen: str
) -> bool:
    """One question to the person; False where they leave."""
    hand = sorted(done.hands[0], key=lambda card: card[0])
    cards = "  ".join(f"{k} {''.join(card)}" for k, card in enumerate(hand, start=1))
    wait = "" if done.may_put(0) else "  (wait for a card)"
    said = answer(f"{cards}{wait}{'   ' + seen if seen else ''} > ").strip().lower()
    if said in ("q", "quit"):
        return False
    done.run(clock() - began_s)  # what happened meanwhile comes first
    if done.over:
        return True
    if said in ("n", "nose", "t", "spoon"):
        done.touch(0)
    elif said.isdigit() and 1 <= int(said) <= len(hand):
        if done.may_put(0):
            done.put(0, hand[int(said) - 1])
    elif said:
        print(HELP)
    return True


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `| head` ends it quietly
    sys.exit(main())
