from __future__ import annotations

from itertools import product

from physim.rules.score import labelled_throws, throw_of
from physim.terminal.game_loop import picture
from physim.types import Pose


def test_every_throw_has_a_picture_of_its_own_in_letters_that_fit() -> None:
    drawn = {pair: "\n".join(picture(throw_of(*pair))) for pair in product(Pose, Pose)}
    assert len(set(drawn.values())) == len(Pose) ** 2
    bodies = {text.rpartition("\n")[0] for text in drawn.values()}
    assert len(bodies) == len(Pose) ** 2  # not by the captions alone
    for (black, pink), text in drawn.items():
        assert text.isascii() and f"black: {black.value} " in text
        assert text.endswith(f"pink: {pink.value}")
        assert len(text.splitlines()) <= 6 and max(map(len, text.splitlines())) < 80


def test_without_poses_there_is_nothing_to_draw() -> None:
    assert picture(labelled_throws()["pig_out"]) == []
