from __future__ import annotations

from collections.abc import Iterator

import pytest

from physim.calibrate import posterior


@pytest.fixture(autouse=True, scope="session")
def fewer_starts() -> Iterator[None]:
    """Made-up pigs have one optimum: two places to look for it from do as well as four."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(posterior, "_STARTS", 2)
        yield
