"""Which classifier, tolerances and criterion of rest a validation used.

They were fixed before any fit. Whoever doubts it compares the hashes.
"""

from __future__ import annotations

import hashlib
import inspect
import json
from dataclasses import asdict
from types import ModuleType
from typing import Any

from physim.poses import classify, contacts
from physim.roll import Setup
from physim.world import certain, still

Json = dict[str, Any]


def in_force(setup: Setup) -> Json:
    """The constants by name and a hash of them, and one of the source that uses them."""
    return {
        "classifier": _entry(
            {"lying_deg": classify.LYING_DEG, "clear_scale_m": classify.CLEAR_SCALE_M}, classify
        ),
        "tolerances": _entry(
            {"table_gap_m": contacts.TABLE_GAP_M, "touch_gap_m": contacts.TOUCH_GAP_M}, contacts
        ),
        "rest_criterion": _entry(asdict(setup.criterion), still),
        "certainty": _entry(
            {
                "margin": certain.MARGIN,
                "reach_factor": certain.REACH_FACTOR,
                "reach_least_m": certain.REACH_LEAST_M,
            },
            certain,
        ),
    }


def _entry(constants: Json, module: ModuleType) -> Json:
    text = json.dumps(constants, sort_keys=True)
    return {
        "constants": constants,
        "constants_sha256": hashlib.sha256(text.encode()).hexdigest(),
        "source": module.__name__,
        "source_sha256": hashlib.sha256(inspect.getsource(module).encode()).hexdigest(),
    }
