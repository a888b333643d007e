"""`manifest.json`: what a dataset folder holds, and how it came about."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from physim import __version__
from physim.arguments import shown
from physim.batch.configuration import differences, sha256
from physim.batch.files import write_whole
from physim.batch.kit import Sample
from physim.batch.manifest_check import COUNTS, ROLLS, problem
from physim.batch.plan import BatchPlan, default_chunk_size
from physim.batch.platforms import BITS
from physim.batch.rows import COLUMNS, named
from physim.errors import DatasetError
from physim.files import read_plain, told

__all__ = ["COUNTS", "ROLLS", "Manifest", "read_manifest"]

NAME = "manifest.json"
FORMAT = 3
_MACHINE = ("machine", "libc", "processor")  # of manifests from before there was `BITS`

Json = dict[str, Any]


@dataclass(frozen=True)
class Manifest:
    """The content of `manifest.json`.

    Attributes:
        format: of the folder; another number is refused.
        kind: `rolls` (Parquet parts) or `counts` (counts only).
        n: rolls asked for; fewer may be there yet.
        seed: of all rolls.
        chunk_size: rolls a part; of counts, the most rolls a task.
        names: what was asked for by name; for readers, not compared.
        configuration: every parameter that the rolls depend on.
        configuration_sha256: its hash; parts carry it too.
        columns: name to type.
        platform: of the machine that made the check roll.
        versions: of physim and of the libraries that could change a roll, there.
        check_roll: roll 0, to the last bit.
        mixed_with: the platform and the versions of every machine of other bits that has added
            rolls, by the user's word.
    """

    format: int
    kind: str
    n: int
    seed: int
    chunk_size: int
    names: Json
    configuration: Json
    configuration_sha256: str
    columns: dict[str, str]
    platform: dict[str, str]
    versions: dict[str, str]
    check_roll: Json
    mixed_with: list[Json] = field(default_factory=list)

    @classmethod
    def of(cls, plan: BatchPlan, configuration: Json, kind: str, sample: Sample) -> Manifest:
        """The manifest of a dataset that begins now, on the machine of the sample."""
        return cls(
            format=FORMAT,
            kind=kind,
            n=plan.n,
            seed=plan.seed,
            chunk_size=plan.chunk_size or default_chunk_size(plan.n, kind == COUNTS),
            names=plan.names(),
            configuration=configuration,
            configuration_sha256=sha256(configuration),
            columns=COLUMNS if kind == ROLLS else {},
            platform=sample.platform,
            versions=sample.versions,
            check_roll=named(sample.row),
        )

    @property
    def same_model(self) -> bool:
        """Whether both pigs are of one model."""
        return bool(self.configuration.get("black") == self.configuration.get("pink"))

    def write(self, folder: Path) -> None:
        """Writes `manifest.json`; it is the old one or the new one at any moment."""
        write_whole(folder / NAME, (json.dumps(asdict(self), indent=1) + "\n").encode())

    def check_configuration(self, configuration: Json, kind: str, folder: Path) -> None:
        """Refuses to add rolls of another configuration.

        Raises:
            DatasetError: names every difference.
        """
        if kind != self.kind:
            raise DatasetError(
                f"{folder}: holds {self.kind}, not {kind} (--counts-only makes the difference); "
                "choose another folder"
            )
        if sha256(configuration) != self.configuration_sha256:
            unlike = "; ".join(differences(self.configuration, configuration))
            raise DatasetError(
                f"{folder}: holds rolls of another configuration ({unlike or 'its hash is wrong'});"
                " choose another folder, or the options that it was made with"
            )

    def joined(self, sample: Sample, folder: Path, *, mixed: bool = False) -> Manifest:
        """The manifest with which the machine of a sample may add rolls.

        Args:
            sample: of that machine.
            folder: of the dataset.
            mixed: whether rolls of other bits may be added.

        Raises:
            DatasetError: rolls may come out otherwise there; names what differs.
        """
        if unlike := differences(self.check_roll, named(sample.row)):
            more = " ..." if len(unlike) > 3 else ""
            why = f"roll 0 comes out with other bits here ({'; '.join(unlike[:3])}{more})"
        elif BITS not in self.platform and self._elsewhere(sample, _MACHINE):
            why = "some rolls may come out with other bits on this machine"
        elif BITS in self.platform and self._elsewhere(sample, (BITS,)):
            why = "sine, power and the like come out with other bits here, and so would some rolls"
        else:  # an older manifest holds its machine's bits from now on
            return replace(self, platform=self.platform | {BITS: sample.platform[BITS]})
        if mixed:
            here = {"platform": sample.platform, "versions": sample.versions}
            return replace(self, mixed_with=[x for x in self.mixed_with if x != here] + [here])
        machines = differences(self.platform, sample.platform)
        machines += differences(self.versions, sample.versions)
        raise DatasetError(
            f"{folder}: {why}, so its rolls cannot be continued; "
            f"{'; '.join(machines) or 'platform and versions are the same'}. Begin another folder "
            "here, go on with the platform and versions of the manifest, or mix the rolls of both "
            "by --mixed-platforms"
        )

    def _elsewhere(self, sample: Sample, names: Sequence[str]) -> bool:
        return any(self.platform.get(name) != sample.platform.get(name) for name in names)


def read_manifest(folder: Path | str) -> Manifest:
    """Reads the manifest of a dataset folder.

    Raises:
        DatasetError: no dataset there, or a damaged manifest.
    """
    path = Path(folder) / NAME
    with told(DatasetError, f"{path}: cannot be read", "see to its permissions"):
        there = path.exists()
    if not there:
        raise DatasetError(
            f"{folder}: no dataset there (no {NAME}); make one with `physim batch N --out {folder}`"
        )
    content = read_plain(path, DatasetError, "see to its permissions")
    try:
        data = json.loads(content)
    except (ValueError, RecursionError) as error:  # of the JSON, or of its encoding
        raise _damaged(path, "it is no JSON text") from error
    if not isinstance(data, dict):
        raise _damaged(path, "it holds no keys and values")
    if "format" in data and data["format"] != FORMAT:
        raise DatasetError(
            f"{path}: of format {shown(data['format'])}, this physim {__version__} reads {FORMAT}; "
            "use the version that made it, or begin another folder"
        )
    if (wrong := problem(data)) is not None:
        raise _damaged(path, wrong)
    return Manifest(**data)


def _damaged(path: Path, why: str) -> DatasetError:
    return DatasetError(
        f"{path}: the manifest is damaged: {why}; restore it from a copy, or begin another folder "
        "(the parts in this one may still be good)"
    )
