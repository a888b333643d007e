"""`physim scorepad`: entries, undo, the offer to end, saving."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from physim.errors import PhysimError
from physim.game.record import load
from physim.terminal.console import fitted, width
from physim.terminal.savefile import SavedGame, sole_keeper
from physim.terminal.scorepad import ScorePad, read_entry, scoreboard, turn_table
from tests.game.games import begin, do, winner
from tests.terminal.commands import Desk, refused

SAVE = "physim-scorepad.json"
THREE = ("scorepad", "--players", "Ana", "Ben", "Cleo")


def state_of(desk: Desk) -> tuple[list[int], int, int]:
    state = load(desk.folder / SAVE).state
    return state.scores, state.turn_total, state.current


def test_the_worked_example_of_the_scoring_chart(desk: Desk) -> None:
    """Ana, Ben and Cleo, from 62, 75 and 81: their last five turns."""
    code, out, err = desk.run(
        *THREE,
        typed="correct Ana 62; correct Ben 75; correct Cleo 81;"
        "r up; up up; t s; bank; t t; out; t down; oinker; pig_out; s s;;bank",
    )
    assert (code, err) == (0, "")
    assert max(map(len, out.splitlines())) < 80
    assert "Ben has 115 with this turn, 100 are needed: Enter (or bank) ends the" in out
    assert "Ben wins with 115" in out
    assert state_of(desk)[0] == [83, 115, 0]


@pytest.mark.parametrize(
    ("line", "moves"),
    [
        ("t up", ["trotter side_dot_up"]),
        ("T+J", ["trotter leaning_jowler"]),
        ("Razorback Snouter", ["razorback snouter"]),
        ("up down", ["pig_out"]),
        ("t", ["trotter"]),
        ("5", ["points 5"]),
        ("+10", ["points 10"]),
        ("turn 23", ["points 23", "bank"]),
        ("turn 0", ["pig_out"]),
        ("o", ["oinker"]),
        ("bacon", ["oinker"]),
        ("call Ben t+s", ["call Ben trotter+snouter"]),
        ("remove Ben", ["remove Ben"]),
        ("Correct Ben 7", ["correct Ben 7"]),
        ("Pig Out", ["pig_out"]),
        ("p", ["pig_out"]),
        ("d", ["sider"]),
        ("trotter and snouter", ["trotter snouter"]),
        ("SOOEE Ben trotter and razorback", ["call Ben trotter+razorback"]),
        ("Sooee! ben double snouter", ["call Ben double_snouter"]),
    ],
)
def test_what_is_typed_is_short_for_moves(line: str, moves: list[str]) -> None:
    game, expected = begin([30, 40, 50]), do(begin([30, 40, 50]), *moves)
    for event in read_entry(line, game):
        game.do(event)
    assert game.state == expected.state


@pytest.mark.parametrize(
    "line", ["", "x", "up", "turn", "turn -5", "t t t", "5 5", "t nose", "--5"]
)
def test_what_is_no_entry_is_refused(line: str) -> None:
    with pytest.raises(PhysimError):
        for event in read_entry(line, begin([0, 0])):
            raise AssertionError(event)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("corect Ana 5", "unknown throw or command `corect`; did you mean `correct`?"),
        ("troter up", "unknown throw or command `troter`; did you mean `trotter`?"),
        ("xyzzy", "unknown throw or command `xyzzy`; `help` lists them"),
        ("turn -5", "a whole turn is entered with its points, 0 or more, such as turn 23"),
        ("up", "`up` is no throw; name both poses, such as trotter snouter, or the"),
        ("bank 5", "`bank` stands alone, found '5' after it"),
        ("call Ben pigout", "`pigout` cannot be called; a Hog Call names both positions, such"),
    ],
)
def test_what_is_mistyped_gets_the_nearest_word_in_a_line_or_two(
    desk: Desk, line: str, says: str
) -> None:
    _, out, _ = desk.run(*THREE, typed=line)
    told = out[out.index("No: ") :].split("\n> ")[0].splitlines()
    assert says in " ".join(part.strip() for part in told[:-1] if part) and len(told) <= 4


@pytest.mark.parametrize(
    ("names", "line", "scores"),
    [
        (["P2", "P1", "P3"], "correct P1 40", [0, 40, 0]),
        (["P2", "P1", "P3"], "correct p2 40", [40, 0, 0]),
        (["Ana", "Ben", "Cleo"], "correct p2 40", [0, 40, 0]),
        (["Ben", "Ben 4", "Zoe\u0308"], "correct ben 4 40", [0, 40, 0]),
        (["Ben", "Ben 4", "Zoe\u0308"], "correct Zo\u00eb 40", [0, 0, 40]),
        (["Ben", "Anna  Maria", "Anna"], "correct ANNA MARIA 40", [0, 40, 0]),
    ],
)
def test_a_player_is_the_one_who_has_that_name(
    desk: Desk, names: list[str], line: str, scores: list[int]
) -> None:
    desk.run("scorepad", "--players", *names, "--first", names[2].upper(), typed=line)
    assert state_of(desk) == (scores, 0, 2)


FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
ALIREZA = "\u0639\u0644\u06cc\u200c\u0631\u0636\u0627"


def test_names_of_all_scripts_stand_in_columns(desk: Desk) -> None:
    code, out, _ = desk.run("scorepad", "--players", "\u674e\u5c0f\u9f8d", "Ana", FAMILY, ALIREZA)
    assert code == 0
    line = out.splitlines()[2]
    starts = [width(line[: line.index(name)]) for name in ("Ana", FAMILY, ALIREZA)]
    assert starts[2] - starts[1] == starts[1] - starts[0] == width(FAMILY) + 6
    refused(desk.run("scorepad", "--players", "A\u200d", "a", "--new"), "which look alike")
    refused(desk.run("scorepad", "--players", "\u200d", "a", "--new"), "letters without a shape")
    refused(desk.run("scorepad", "--players", "A" * 41, "a", "--new"), "at most 40 letters")


def test_a_narrow_terminal_breaks_lines_between_words_and_keeps_all_scores() -> None:
    game = begin([95, 17, 40], end="end_of_round")
    for room in (20, 39, 79):
        lines = scoreboard(game, room)
        assert max(map(width, lines)) <= room
        assert "".join(lines).split() == ["*", "Ana", "95", "Ben", "17", "Cleo", "40"]
    told = fitted("Ana has 100 with this turn, 100 are needed: Enter (or bank) banks that.", 39)
    assert told == ["Ana has 100 with this turn, 100 are", "  needed: Enter (or bank) banks that."]
    assert fitted(f"{' ' * 23}such as: call Ben double snouter, sooee", 39) == [
        "    such as: call Ben double snouter,",
        "    sooee",
    ]
    assert fitted("x" * 25, 20) == ["x" * 20, "  " + "x" * 5]


@pytest.mark.parametrize("pair", [("ana", "Ana"), ("Zo\u00eb", "Zoe\u0308"), ("Straße", "STRASSE")])
def test_names_that_look_alike_are_refused(desk: Desk, pair: tuple[str, str]) -> None:
    refused(desk.run("scorepad", "--players", *pair), "which look alike; give each a name of")


def test_minus_takes_back_and_a_wrong_entry_changes_nothing(desk: Desk) -> None:
    _, out, _ = desk.run(*THREE, typed="10; -1; -20; turn 5; nose; correct Dan 4")
    assert state_of(desk) == ([0, 0, 0], 9, 0)
    assert "No: the turn has 9 points; taking 20 away" in out
    assert "No: the turn has 9 points already; add to them with +N" in out
    assert out.count("No: ") == 4


def test_undo_goes_back_to_the_start_one_entry_after_the_other(desk: Desk) -> None:
    desk.run(*THREE, typed="t up; bank; turn 23; remove Cleo")
    assert state_of(desk) == ([5, 23, 0], 0, 0)
    code, out, _ = desk.run("scorepad", typed="undo")
    assert code == 0 and "Taken back: Cleo is taken out of the game" in out
    assert state_of(desk) == ([5, 23, 0], 0, 2)
    _, out, _ = desk.run("scorepad", typed="undo; undo; undo; undo; undo")
    assert state_of(desk) == ([0, 0, 0], 0, 0) and "No: nothing to undo" in out


def test_a_finished_game_can_be_undone(desk: Desk) -> None:
    _, out, _ = desk.run(*THREE, typed="turn 100; bank; 5; undo; scores")
    assert "Enter (or bank) ends the game" in out.split("Ana wins")[0]
    assert (
        "* Ana 0+100" in out
        and "Ana wins with 100" in out
        and "No: the game is over, Ana has won" in out
    )
    assert state_of(desk) == ([0, 0, 0], 100, 0)


def test_the_turns_of_a_game_as_a_table_and_as_csv(desk: Desk) -> None:
    """The worked example's scores by hand: before, this turn, after."""
    _, out, _ = desk.run(
        *THREE,
        typed="correct Ana 62; correct Ben 75; correct Cleo 81; turns;"
        "r up; up up; t s; bank; t t; out; t down; oinker; pig_out; s s; bank; turns",
    )
    table = ["Ana", "Ben", "Cleo", "62+21=83", "lost", "lost,", "0", "lost", "75+40=115"]
    assert "No turn is finished yet." in out
    for told in (out.split("wins with 115")[1], out.split("> turns")[-1]):
        assert told.split()[: len(table)] == table
    assert desk.run("scorepad", "--csv", "turns.csv")[:2] == (0, "turns.csv\n")
    assert (desk.folder / "turns.csv").read_text().splitlines() == [
        "turn,player,before,points,after,ended_by",
        "1,Ana,62,21,83,bank",
        "2,Ben,75,0,75,pig_out",
        "3,Cleo,81,0,0,oinker",
        "4,Ana,83,0,83,pig_out",
        "5,Ben,75,40,115,bank",
    ]
    assert turn_table(load(desk.folder / SAVE), 20)[:2] == ["Ana 62+21=83", "Ben lost"]
    refused(desk.run("scorepad", "--csv", "turns.txt"), "must end in .csv")
    refused(desk.run("scorepad", "--csv", "t.csv", "--save", "no.json"), "no saved game there")


def test_the_poses_that_were_entered_are_counted(desk: Desk) -> None:
    desk.run(*THREE, typed="t up; t up; up t; bank; p; down up; o; double snouter; 5; t; bank")
    code, out, _ = desk.run("scorepad", "--counts", "counts.csv", "--csv", "turns.csv")
    assert code == 0 and out.splitlines() == [
        "turns.csv", "counts.csv: 2 entries do not tell both poses and are left out",
    ]  # fmt: skip
    assert (desk.folder / "counts.csv").read_text().splitlines() == [
        "black,pink,rolls",
        "side_dot_down,side_dot_up,1",
        "side_dot_up,side_dot_down,1",
        "side_dot_up,trotter,1",
        "snouter,snouter,1",
        "touching,touching,1",
        "trotter,side_dot_up,2",
    ]


def test_redo_makes_again_what_undo_took_back(desk: Desk) -> None:
    _, out, _ = desk.run(*THREE, typed="redo; t up; turn 9; bank; undo; undo; redo; redo; redo")
    assert state_of(desk) == ([5, 0, 0], 0, 1)
    assert out.count("No: nothing to redo: no undo since the last entry") == 2
    desk.run("scorepad", typed="undo; undo; 7; redo")
    assert state_of(desk) == ([0, 0, 0], 7, 0)


def test_the_next_game_on_the_pad_has_the_same_players_and_rules(desk: Desk) -> None:
    desk.run(*THREE, "--target", 20, "--rule", "first_player=rotation", typed="turn 20; bank")
    code, out, _ = desk.run("scorepad", "--new", typed="scores")
    assert code == 0 and "To 20, rules box" in out and "* Ben 0" in out
    assert "Games won this evening: Ana 1." in out


def test_enter_takes_the_offer_and_nothing_else(desk: Desk) -> None:
    game = begin([90, 0])
    lines = iter(["", "t up", "", "t up", "", ""])

    said = []

    class Keys:
        columns = 79

        def say(self, text: str = "") -> None:
            said.append(text)

        def ask(self, prompt: str, status: str = "", words: object = ()) -> str:
            for line in lines:
                return line
            raise EOFError

    with pytest.raises(EOFError):  # after Enter where the game is over
        ScorePad(SavedGame(game, desk.folder / SAVE, "scorepad", {}), Keys()).keep()
    assert winner(game) == "Ana" and game.state.scores == [100, 0]
    assert sum("`help` lists it all" in text for text in said) == 2
    assert said[-1].startswith("The game is over; quit, then --new begins the next one")


def test_with_a_round_to_be_played_out_the_offer_says_so(desk: Desk) -> None:
    _, out, _ = desk.run(
        *THREE, "--rule", "end=end_of_round", typed="correct Ana 95; t; bank; scores"
    )
    assert "banks that; the round is played to its end" in " ".join(out.split())
    assert "wins" not in out


def test_the_last_round_is_announced(desk: Desk) -> None:
    rule = ("--rule", "end=end_of_round", "--first", "Ben")
    _, out, _ = desk.run(*THREE, *rule, typed="turn 5; turn 100; bank; turn 3")
    told = "Cleo has reached 100; the round is the last, still to play: Ana"
    assert out.count("has reached") == 1 and told in " ".join(out.split())
    assert "Cleo wins with 100" in out


def test_everything_is_saved_at_once(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """After each entry the file holds it, whatever happens next."""
    seen: list[int] = []
    entered = ScorePad._enter

    def then_look(self: ScorePad, line: str) -> None:
        try:
            entered(self, line)
        finally:
            seen.append(len(json.loads((desk.folder / SAVE).read_text())["events"]))

    monkeypatch.setattr(ScorePad, "_enter", then_look)
    desk.run(*THREE, typed="t up; 5; turn 9; bank; turn 23")
    assert seen == [1, 2, 2, 3, 5]


def test_twelve_players_fit_the_screen(desk: Desk) -> None:
    names = [f"Player number {n}" for n in range(12)]
    _, out, _ = desk.run("scorepad", "--players", *names, typed="turn 10")
    assert max(map(len, out.splitlines())) < 80
    assert "* Player number 1 0" in out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "name the players with --players"),
        (("--players", "Ana"), "2 to 100 players"),
        (("--players", "Ana", "Ben", "--rules", "bux"), "did you mean `box`"),
        (("--players", "Ana", "Ben", "--save", "none/pad.json"), "name another file with --save"),
        (("--players", "Ana", "Ben", "--save", "."), "is a folder; name another file"),
        (("--players", "Ana", "Ben", "--save", ".", "--new"), "is a folder; name another file"),
        (("--sheet", "sheet.doc"), "must end in .pdf"),
        (("--sheet", "none/sheet.pdf"), "name a file in a folder"),
        (("--sheet", "sheet.pdf", "--rounds", "0"), "from 1 to 60"),
    ],
)
def test_bad_input_gets_one_line_and_code_2(
    desk: Desk, arguments: tuple[object, ...], says: str
) -> None:
    refused(desk.run("scorepad", *arguments), says)
    assert not any(desk.folder.iterdir())


def test_a_full_disk_is_told_and_keeps_what_was_saved(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.run(*THREE, typed="t up")
    before = (desk.folder / SAVE).read_bytes()

    def full(path: Path, content: bytes) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("physim.game.record.write_whole", full)
    refused(desk.run("scorepad", typed="t up"), "free some space")
    refused(desk.run(*THREE, "--new"), "free some space")
    assert (desk.folder / SAVE).read_bytes() == before
    assert [path.name for path in desk.folder.iterdir()] == [SAVE]


def test_two_processes_do_not_keep_one_game(desk: Desk) -> None:
    assert desk.run(*THREE, typed="t up")[0] == 0
    with sole_keeper(desk.folder / SAVE):
        refused(desk.run("scorepad"), "another process has this game open; go on there, or name")
        refused(desk.run(*THREE, "--new"), "another process has this game open")
        assert desk.run(*THREE, "--save", "other.json")[0] == 0
    assert desk.run("scorepad", typed="bank")[0] == 0
    assert state_of(desk)[0] == [5, 0, 0]
    assert sorted(path.name for path in desk.folder.iterdir()) == ["other.json", SAVE]


def test_the_lock_of_a_process_that_was_killed_is_no_hindrance(desk: Desk) -> None:
    (desk.folder / f".{SAVE}.lock").touch()
    assert desk.run(*THREE, typed="t up")[0] == 0
    assert [path.name for path in desk.folder.iterdir()] == [SAVE]
