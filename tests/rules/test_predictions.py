"""What a Hog Call may name, and in which forms."""

import pytest

from physim.errors import ConfigError
from physim.rules.ruleset import load_rules, read_prediction


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("r+t", "trotter+razorback"),
        ("razorback trotter", "trotter+razorback"),
        ("j", "leaning_jowler"),
        ("snouter", "snouter"),
        ("snouter+snouter", "double_snouter"),
        ("Double Trotter", "double_trotter"),
        ("Leaning Jowler and razorback", "razorback+leaning_jowler"),
        ("s up", "snouter"),
    ],
)
def test_a_prediction_has_one_form(text: str, form: str) -> None:
    assert read_prediction(text, load_rules("box")) == form


@pytest.mark.parametrize("text", ["", "x", "pig_out", "t+t+t", "oinker"])
def test_what_cannot_be_called_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="cannot be called"):
        read_prediction(text, load_rules("box"))
