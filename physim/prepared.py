"""What is computed of two pigs and a table once, before any roll.

Some tenths of a second of work. A batch does it once and sends it to all workers.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from physim import kept
from physim.pigs.library import model_folder
from physim.pigs.mesh import write_text
from physim.pigs.model import load_folder
from physim.rests import RestTable
from physim.values import PigModel, Table
from physim.world.body import Body
from physim.world.certain import Certificate


@dataclass(frozen=True)
class Prepared:
    """One for the black pig and one for the pink; the same one twice where both are one model.

    Attributes:
        bodies: the pigs as engine and flight need them.
        rests: their stable rests, with names.
        certificates: know when a pig's outcome is certain.
    """

    bodies: tuple[Body, Body]
    rests: tuple[RestTable, RestTable]
    certificates: tuple[Certificate, Certificate]

    @classmethod
    def of(cls, pigs: tuple[PigModel, PigModel], table: Table) -> Prepared:
        """Of these pigs on this table.

        Raises:
            ModelError: a pig without stable rests, or with its centre of mass outside.
        """
        black, pink = pigs
        one = _prepared(black, table)
        two = one if pink is black else _prepared(pink, table)
        return cls((one[0], two[0]), (one[1], two[1]), (one[2], two[2]))


def _prepared(model: PigModel, table: Table) -> tuple[Body, RestTable, Certificate]:
    body, rests = Body.of(model), RestTable.of(model)
    return body, rests, Certificate(body, rests.basins(), table)


def keep(name_or_path: str | Path) -> Path:
    """Computes what depends on a model's files alone, and keeps it in its folder (`kept`).

    Raises:
        ConfigError, ModelError: a model that cannot be used, or a folder that cannot be written to.
    """
    folder = model_folder(name_or_path)
    with kept.recorded() as results:
        model = load_folder(folder, str(name_or_path)).model
        Body.of(model)
        RestTable.of(model)
    path = folder / kept.FILE_NAME
    write_text(path, kept.text(results))
    return path
