"""`physim play` through pipes: moves, bots, calls, saving and going on."""

from __future__ import annotations

import json
import stat
from contextlib import AbstractContextManager, nullcontext

import numpy as np
import pytest

import physim
from physim.game.outcomes import Distribution, draws
from physim.rules.score import labelled_throws
from physim.terminal.savefile import Session
from physim.types import Pose, PoseReading
from tests.terminal.commands import Desk, refused

SAVE = "physim-play.json"
ANA_BEN = ("--players", "Ana", "Ben")


def test_a_scripted_game_is_played_to_its_end_and_told_in_80_columns(desk: Desk) -> None:
    script = desk.script("trotter snouter", "# a remark", "double_snouter", "pig_out",
                         "double_leaning_jowler")  # fmt: skip
    code, out, err = desk.run(
        "play", *ANA_BEN, "--source", script, "--seed", 1, "--target", 100,
        typed="roll; advice; bank; r; fly; b; scores; help; R; roll; bank",
    )  # fmt: skip
    assert (code, err) == (0, "")
    assert max(map(len, out.splitlines())) < 80
    for line in (
        "Ana: trotter+snouter, 15 points; 15 this turn",
        "  black: trotter            pink: snouter",
        "Ana: 0 + 15 this turn = 15",
        "Ana banks 15: 15",
        "Ben banks 40: 40",
        "Ana 15, Ben 40",
        "Ana: pig_out, loses the 0 of this turn",
        "Ben: double_leaning_jowler, 60 points; 60 this turn",
        "Ben wins with 100",
    ):
        assert line in out.splitlines()
    assert "No: 'fly' is no move here; `help` lists the moves" in out
    code, out, _ = desk.run("play")
    assert code == 0 and "that game is over, Ben won it (Ana 15, Ben 100); --new" in out


def test_a_script_may_begin_with_a_byte_order_mark_and_end_its_lines_as_windows_does(
    desk: Desk,
) -> None:
    path = desk.folder / "throws.txt"
    path.write_bytes("\ufefftrotter snouter\r\npig_out\r\n".encode())
    code, out, _ = desk.run("play", *ANA_BEN, "--source", "throws.txt", typed="roll; roll")
    assert code == 0 and "Ana: trotter+snouter, 15 points; 15 this turn" in out


def test_the_risk_of_the_next_throw_is_that_of_the_real_rolls(desk: Desk) -> None:
    # 1,279 of 6,000 rolls are a pig out, 23 touch; 4.714 points a roll: with 20 in the turn and
    # nothing banked the loss is 20 x .217, which leaves .374.
    script = desk.script("double_trotter")
    _, out, _ = desk.run("play", *ANA_BEN, "--source", script, typed="roll")
    assert "Next throw: 21.3 % end the turn; +4.7 on average." in out
    assert "Next throw: 21.3 % lose the turn's 20, 0.4 % all 20; +0.4 on average." in out


def test_real_physics_rolls_and_a_game_that_was_left_goes_on_with_the_same_rolls(
    desk: Desk,
) -> None:
    """The throws are those of `physim.roll`, whether the game was left between them or not."""
    options = ("--players", "Ana", "Ben", "--seed", 7, "--toss", "hand", "--rule",
               "oinker_costs=turn")  # fmt: skip
    assert desk.run("play", *options, typed="roll")[0] == 0
    code, out, _ = desk.run("play", typed="roll; roll; quit; roll")
    assert code == 0 and "Going on after 1 move." in out and "`physim play` goes on" in out
    thrown = [event for event in desk.events(SAVE) if event["event"] == "throw"]
    for index, event in enumerate(thrown):
        roll = physim.roll(7, index, toss="hand")
        assert event["outcome"] == roll.outcome.value and event["points"] == roll.score
        assert event["poses"] == [pig.pose.value for pig in roll.pigs]
    assert len(thrown) == 3


def test_with_a_window_each_roll_is_shown_before_it_is_told_and_the_game_outlives_it(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[tuple[int, str, int]] = []

    class Window(AbstractContextManager[object]):
        def __exit__(self, *error: object) -> None:
            pass

        def show(self, index: int, title: str) -> bool:
            shown.append((index, title, len(desk.events(SAVE))))
            return index < 2

    monkeypatch.setattr("physim.cli.play.open_window", lambda options: Window())
    code, out, _ = desk.run("play", *ANA_BEN, "--seed", 7, "--watch", typed="r; r; r; r")
    events = desk.events(SAVE)
    assert code == 0 and len(events) == 4
    assert [event["outcome"] for event in events] == [
        physim.roll(7, index, settle="full").outcome.value for index in range(4)
    ]
    assert [(index, saved) for index, _, saved in shown] == [(0, 1), (1, 2), (2, 3)]
    assert shown[0][1] == "Ana: 0 + 0 this turn"
    assert out.count("The window is closed; the game goes on without it.") == 1


def test_without_a_display_or_physics_there_is_nothing_to_watch(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    refused(desk.run("play", *ANA_BEN, "--watch"), "no display for the window")
    refused(desk.run("play", *ANA_BEN, "--watch", "--source", "kern2006"), "rolls of physics, not")
    assert not any(desk.folder.iterdir())


def test_bots_play_alone_and_a_seed_fixes_the_game(desk: Desk) -> None:
    game = ("play", "--players", "hold:20", "hold:20", "greedy", "--source", "kern2006")
    code, first, err = desk.run(*game, "--seed", 3, "--save", "a.json")
    assert (code, err) == (0, "") and "wins with" in first and "hold:20 (2)" in first
    _, again, _ = desk.run(*game, "--seed", 3, "--save", "b.json")
    _, other, _ = desk.run(*game, "--seed", 4, "--save", "c.json")
    assert desk.events("a.json") == desk.events("b.json") != desk.events("c.json")
    assert first.replace("a.json", "") == again.replace("b.json", "") != other


def test_draws_go_on_where_they_were_left(desk: Desk) -> None:
    game = ("play", *ANA_BEN, "--source", "kern2006", "--seed", 11, "--rules", "table")
    moves = ["roll"] * 6
    desk.run(*game, "--save", "whole.json", typed=";".join(moves))
    for move in moves:
        desk.run(*game, "--save", "parts.json", typed=move)
    assert desk.events("whole.json") == desk.events("parts.json")
    assert len(desk.events("whole.json")) == 6


def test_undo_takes_back_what_was_typed_but_no_throw(desk: Desk) -> None:
    script = desk.script("trotter", "double_trotter", "trotter", "double_snouter", "pig_out")
    _, out, _ = desk.run(
        "play", "--players", "Ana", "Ben", "hold:20", "--source", script,
        typed="undo; roll; undo; b; undo; bank; roll; call Ana t; u; bank; scores; undo",
    )  # fmt: skip
    for line in (
        "No: nothing to undo: the game has just begun",
        "No: a throw stays; undo takes back what was typed since the last one",
        "Taken back: Ana banks 5: 5",
        "Ana: 0 + 5 this turn = 5",
        "No: hold:20 banked; what a bot does stays",
    ):
        assert line in out.splitlines()
    kinds = [event["event"] for event in desk.events(SAVE)]
    assert kinds == ["throw", "bank", "throw", "bank", "throw", "throw", "bank"]


def test_banking_wins_is_said_and_scores_tell_the_turn(desk: Desk) -> None:
    game = ("play", *ANA_BEN, "--target", 20, "--source", desk.script("double_trotter"))
    _, out, _ = desk.run(*game, typed="roll; scores")
    assert "\nBanking wins.\n" in out and "\nAna 0 + 20 this turn, Ben 0\n" in out
    _, out, _ = desk.run(*game, "--save", "b.json", "--rule", "end=end_of_round",
                         typed="roll; bank")  # fmt: skip
    assert "Banking reaches the target; the round is the last." in out
    assert "Ana has reached 20; the round is the last, still to play: Ben" in out
    assert "last" not in desk.run(*game, "--save", "c.json", typed="roll; bank")[1]


def test_people_and_bots_shout_hog_calls(desk: Desk) -> None:
    """The bot calls razorbacks, once right and once wrong; then somebody calls for it."""
    script = desk.script(
        "double_trotter", "double_trotter", "double_trotter",  # 20 for each
        "razorback side_dot_up", "trotter side_dot_up", "trotter snouter",
    )  # fmt: skip
    code, out, _ = desk.run(
        "play", "--players", "Ana", "Ben", "hog_caller:20", "--source", script,
        typed="roll; bank; roll; bank; roll; bank; call Ana razorback; roll;"
        "SOOEE hog_caller:20 Snouter and trotter; bank; roll",
    )  # fmt: skip
    assert code == 0
    for line in (
        "hog_caller:20 calls razorback",
        "hog_caller:20 called right: hog_caller:20 20 to 30, Ana 20 to 10",
        "Ana banks 5: 15",
        "No: Ana has 15 points banked; a Hog Call needs 20",
        "hog_caller:20 called wrong: hog_caller:20 30 to 20, Ben 20 to 30",
        "hog_caller:20 calls trotter+snouter",
        "No: a Hog Call waits for the throw; throw before you bank",
        "hog_caller:20 called right: hog_caller:20 20 to 50, Ben 30 to 0",
    ):
        assert line in out.splitlines()


def test_a_bots_throw_waits_for_people_with_pause(desk: Desk) -> None:
    script = desk.script("double_trotter", "trotter snouter", "double_trotter")
    code, out, _ = desk.run(
        "play", "--players", "Ana", "hold:20", "--source", script, "--pause",
        typed="roll; bank; bank; call Ana trotter+snouter; roll; scores",
    )  # fmt: skip
    assert code == 0
    assert out.count("it is the turn of hold:20, who plays alone; press Enter") == 1  # bank
    assert "Ana called right: Ana 20 to 50, hold:20 0 to 0" in out
    kinds = [event["event"] for event in desk.events(SAVE)]
    assert kinds == ["throw", "bank", "call", "throw"]  # `roll` is one throw of the bot's


def test_enter_throws_and_plays_a_bots_whole_turn(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.script("trotter", "trotter", "snouter", "trotter", "pig_out", "trotter", "snouter")
    asked: list[str] = []
    typed = iter(["", "bank", "", "", "quit"])

    def ask(self: Session, prompt: str, words: object) -> str:
        asked.append(prompt)
        return next(typed)

    monkeypatch.setattr("physim.terminal.savefile.Session.ask", ask)
    desk.run("play", "--players", "Ana", "hold:20", "--source", "throws.txt", "--pause")
    kinds = [event["event"] for event in desk.events(SAVE)]
    assert kinds == ["throw", "bank", "throw", "throw", "throw", "bank", "throw"]
    assert asked == ["Ana: roll > ", "Ana: roll or bank > ", "hold:20 throws: Enter, or call > ",
                     "Ana: roll > ", "hold:20 throws: Enter, or call > "]  # fmt: skip


def test_rotation_hands_the_first_throw_on_to_the_next_player(desk: Desk) -> None:
    script = desk.script("trotter")
    game = ("play", *ANA_BEN, "--source", script, "--rule", "first_player=rotation")
    assert "Ana begins" in desk.run(*game)[1]
    assert "Ben begins" in desk.run(*game, "--new")[1]
    assert "Ana begins" in desk.run(*game, "--new")[1]
    assert (desk.folder / f"{SAVE}.old").is_file()


def test_the_next_game_of_an_evening_keeps_players_rules_and_options(desk: Desk) -> None:
    script = desk.script("double_trotter", "double_razorback")
    game = ("play", *ANA_BEN, "--source", script, "--target", 20, "--seed", 5,
            "--rule", "first_player=rotation", "--save", "g.json")  # fmt: skip
    _, out, _ = desk.run(*game, typed="roll; bank")
    assert "Games won this evening: Ana 1." in out and "g.json --new` begins the next" in out
    _, out, _ = desk.run("play", "--new", "--save", "g.json", typed="roll; bank")
    assert "To 20, rules box; throws of throws.txt" in out and "Ben begins" in out
    assert "Games won this evening: Ana 1, Ben 1." in out
    _, out, _ = desk.run("play", "--new", "--save", "g.json", "--target", 30, typed="roll; bank")
    assert "To 30, rules box; throws of throws.txt" in out and "Ana begins" in out
    _, out, _ = desk.run("play", "--new", "--save", "g.json", "--players", "Ana", "Cleo",
                         "--rules", "table", "--first", "Cleo", typed="roll; bank")  # fmt: skip
    assert "To 100, rules table; throws of throws.txt" in out and "Cleo begins" in out
    assert "Games won this evening: Ana 1, Ben 1." in out  # the third game was not finished
    _, out, _ = desk.run("play", "--new", "--save", "g.json", "--players", "Dan", "Eve")
    assert "Dan begins" in out and "Games won" not in out


def test_another_game_than_the_saved_one_is_refused(desk: Desk) -> None:
    game = ("play", *ANA_BEN, "--source", desk.script("trotter"), "--seed", 5)
    assert desk.run(*game)[0] == desk.run(*game)[0] == 0  # the same command goes on
    refused(desk.run("play", "--seed", 6), "with --seed 5, not --seed 6; leave the option out")
    refused(desk.run("play", "--players", "Ana", "Cleo"), "with --players Ana Ben, not --pl")
    refused(desk.run("play", "--rule", "hog_call=false"), "rules box, not --rule hog_call=false;")
    refused(desk.run("play", "--target", 60), "under rules box to 100, not --target 60;")
    refused(desk.run("play", "--first", "ben"), "with --first Ana, not --first ben;")
    refused(desk.run("play", "--odds", "kern2006"), "begun without --odds, not --odds kern2006;")
    for same in (("--target", 100), ("--target", "faster"), ("--first", "ANA"), ("--rules", "box"),
                 ("--players", "ana", "BEN"), ("--rule", "hog_call=true")):  # fmt: skip
        assert desk.run("play", *same)[0] == 0
    refused(desk.run("scorepad", "--save", SAVE), "no game of `physim scorepad` but of `physim pl")
    assert desk.run("play")[0] == 0


@pytest.mark.parametrize("kept", ["", "{", "truncated", "[]", '{"format": "physim game 1"}'])
def test_a_damaged_file_is_told_and_left_alone(desk: Desk, kept: str) -> None:
    game = ("play", *ANA_BEN, "--source", desk.script("trotter"), "--seed", 5)
    desk.run(*game, typed="roll")
    path = desk.folder / SAVE
    path.write_text(path.read_text()[:-200] if kept == "truncated" else kept)
    before = path.read_bytes()
    refused(desk.run(*game), "begin anew with --new")
    assert path.read_bytes() == before
    assert desk.run(*game, "--new")[0] == 0
    assert (desk.folder / f"{SAVE}.old").read_bytes() == before


def test_a_game_begun_anew_keeps_link_and_mode_and_a_read_only_one(desk: Desk) -> None:
    game = ("play", *ANA_BEN, "--source", desk.script("trotter"), "--seed", 5)
    path, real = desk.folder / SAVE, desk.folder / "real.json"
    path.symlink_to(real.name)
    desk.run(*game, typed="roll")
    before = real.read_bytes()
    real.chmod(0o600)
    assert desk.run(*game, "--new")[0] == 0
    old = desk.folder / "real.json.old"
    assert old.read_bytes() == before != real.read_bytes()
    assert [stat.S_IMODE(one.stat().st_mode) for one in (real, old)] == [0o600, 0o600]
    assert path.is_symlink()
    real.chmod(0o444)
    kept = real.read_bytes()
    refused(desk.run(*game, "--new"), "it is read-only")
    assert (real.read_bytes(), old.read_bytes()) == (kept, before)


@pytest.mark.parametrize(
    ("key", "value"),
    [("players", ["Ana"]), ("players", 3), ("seed", "x"), ("source", 4), ("odds", "physics")],
)
def test_options_that_were_tampered_with_are_refused(desk: Desk, key: str, value: object) -> None:
    desk.run("play", *ANA_BEN, "--source", desk.script("trotter"), "--seed", 5)
    path = desk.folder / SAVE
    data = json.loads(path.read_text())
    data["begun_with"][key] = value
    path.write_text(json.dumps(data))
    refused(desk.run("play"), "")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--rules", "tabel"), "did you mean `table`"),
        (("--players", "Ana"), "2 to 100 players, found 1"),
        (("--players", "Ana", "Ana"), "two players are called Ana"),
        (("--players", "Ana", "hld:20"), "did you mean `hold`"),
        (("--players", "Ana", "Ben", "optimal"), "optimal plays games of two"),
        (("--first", "Cleo"), "Cleo cannot begin"),
        (("Ana", "Ben"), "players come after --players"),
        (("--source", "kern2005"), "did you mean `kern2006`"),
        (("--source", "bad.txt"), "bad.txt: line 2: unknown throw `troter`"),
        (("--source", "good.txt", "--odds", "physics"), "--odds takes what was counted"),
        (("--source", "good.txt", "--save", "no/such/folder/a.json"), "cannot be saved there"),
        (("--source", "good.txt", "--save", "good.txt/a.json"), "name another file with --save"),
        (("--toss", "catapult"), "catapult"),
        (("--seed", "-1"), "must be a whole number"),
    ],
)
def test_bad_input_gets_one_line_and_code_2_and_leaves_no_file(
    desk: Desk, arguments: tuple[object, ...], says: str
) -> None:
    (desk.folder / "bad.txt").write_text("trotter\ntroter\n")
    (desk.folder / "good.txt").write_text("trotter\n")
    refused(desk.run("play", *arguments), says)
    assert sorted(path.name for path in desk.folder.iterdir()) == ["bad.txt", "good.txt"]


def test_a_script_that_ends_is_told_and_can_be_made_longer(desk: Desk) -> None:
    game = ("play", *ANA_BEN, "--source", desk.script("trotter"), "--seed", 5)
    refused(desk.run(*game, typed="roll; roll"), "the script has no further throw")
    desk.script("trotter", "razorback")
    code, out, _ = desk.run(*game, typed="roll")
    assert code == 0 and "Ana: razorback, 5 points; 10 this turn" in out


@pytest.mark.parametrize(
    ("source", "players", "most", "told"),
    [
        # A cube: every roll is ambiguous, since no face is a pose of the rules.
        ({"ambiguous": 1.0}, ("hold:20", "hold:23"), 200, "(the last: ambiguous)"),
        ({"off_table": 1.0}, ("greedy", "Ben"), 200, "(the last: off_table)"),
        ({"pig_out": 1.0}, ("rolls:2", "rolls:2"), 200, "(the last: pig_out)"),
        ({"unsettled": 0.5, "oinker": 0.5}, ("hold:20", "optimal"), 200, "no points"),
        # They would need some 10^12 turns; and two who only call take from each other.
        ({"sider": 0.1, "pig_out": 0.9}, ("greedy", "greedy"), 300, "nobody beyond 0 points"),
        (
            {"trotter": 0.5, "oinker": 0.5},
            ("hold:25", "greedy", "hog_caller:25"),
            300,
            "take other players or a lower --target",
        ),
    ],
)
def test_a_game_that_would_never_end_is_left_after_so_many_throws(
    source: dict[str, float],
    players: tuple[str, ...],
    most: int,
    told: str,
    desk: Desk,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    throws = [labelled_throws()[name] for name in source]
    drawn = draws(
        Distribution("made up", tuple(throws), tuple(source.values())), np.random.default_rng(1)
    )
    monkeypatch.setattr("physim.cli.play.open_throws", lambda *_: nullcontext(drawn))
    monkeypatch.setattr("physim.terminal.game_loop.MOST_WITHOUT_LEAD", 300)
    done = desk.run("play", "--players", *players, "--no-pause", "--save", "g.json",
                    typed="roll;" * 300)  # fmt: skip
    refused(done, told)
    assert f"{most} throws in a row" in done[2] and "kept in g.json" in done[2]
    thrown = [event for event in desk.events("g.json") if event["event"] == "throw"]
    assert most <= len(thrown) < 2 * most


def test_a_long_game_of_ordinary_bots_is_played_to_its_end(desk: Desk) -> None:
    code, out, err = desk.run("play", "--players", "hold:20", "hold:23", "--source", "kern2006",
                              "--seed", 3, "--no-pause")  # fmt: skip
    assert (code, err) == (0, "") and " wins with " in out


def test_every_option_of_a_roll_reaches_the_game(desk: Desk) -> None:
    """So small a table that pigs fall off it."""
    _, out, _ = desk.run("play", "--table-size-mm", 60, 60, "--seed", 3, typed="roll; quit")
    assert "off_table" in out


def test_a_pig_without_poses_of_the_rules_is_refused(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("physim.simulator.classify", lambda *_: PoseReading(Pose.OTHER, 1.0))
    code, _, err = desk.run("play", "--seed", 3, typed="roll; quit")
    assert code == 2 and "has no pose of the rules" in err
