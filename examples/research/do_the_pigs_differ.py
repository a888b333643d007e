"""Do the real rolls ask for two models, one for each pig?

The black pig answers to height and the pink one does not. Two castings could differ in where their
centres of mass lie, so: with the samples of the shipped fits (`calibration/fits`), is the
deviance of each pig's own counts much smaller if each may have its own centre of mass? No rolls are
made; it takes some seconds.

    python examples/research/do_the_pigs_differ.py
"""

from __future__ import annotations

import numpy as np
from fit import prior_runs
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.stats import chi2

from physim.calibrate.posterior import log_posterior_about
from physim.calibrate.priors import read_fit
from physim.calibrate.problem import FitProblem
from physim.files import data_folder
from physim.statistics.counts import NAMED_POSES

FITS = data_folder("calibration") / "fits"
REACH, NEAR = 0.9, 1.0  # of the optimum and of samples, in the priors' spreads
DIFFERENCE_SD = 0.5  # of the two pigs' centres of mass, as a share of the prior's spread
HEIGHTS_MM = (127, 203)


def main() -> None:
    values = read_fit(FITS / "standard")
    problem = FitProblem.named(parameters=tuple(values), method="surface", engine="pybullet")
    samples, _ = prior_runs(
        sorted(path.parent for path in FITS.glob("*/checkpoint.json.gz")), problem
    )
    space, real = problem.space, problem.objective.real
    center = space.to_unit(values)
    near = [
        (point, sample)
        for point, sample in samples
        if (np.abs(point - center) <= NEAR * space.spreads + 1e-12).all()
    ]
    about = log_posterior_about(center, near, problem.objective)
    poses = about.observed[0]  # the other is that of touching
    simulated = np.array([[s.poses()[pose] for pose in NAMED_POSES] for _, s in near]).sum(axis=0)
    order = np.argsort(-simulated, kind="stable")  # the emulator's cells
    counts = {
        pig: np.array([[real.poses(mm, pig)[pose] for pose in NAMED_POSES] for mm in HEIGHTS_MM])
        for pig in ("black", "pink")
    }
    com = [i for i, name in enumerate(space.names) if name.startswith("com_")]
    d = len(space.names)

    def parts(v: NDArray[np.float64]) -> tuple[float, float]:
        """Deviance of both pigs, and the prior's penalty, at parameters and difference."""
        x, apart = v[:d], np.zeros(d)
        apart[com] = v[d:]
        penalty = float(((x - about.prior) ** 2).sum() + ((apart / DIFFERENCE_SD) ** 2).sum())
        off = 0.0
        for pig, side in (("black", 0.5), ("pink", -0.5)):
            for row, height in zip(counts[pig], poses.heights, strict=True):
                p = poses.emulator.probabilities((x + side * apart)[None], float(height))[0]
                off += deviance(row[order], p)
        return off, penalty

    found = {}
    for name, free in (("one model", 0), ("two models", len(com))):
        bounds = [(-REACH, REACH)] * (d + free) + [(0.0, 0.0)] * (len(com) - free)
        best = minimize(lambda v: sum(parts(v)), np.zeros(len(bounds)), bounds=bounds)
        found[name] = parts(best.x)[0]
        shift_mm = best.x[d:] * space.spreads[com] * space.span[com]
        print(f"{name}: deviance {found[name]:.1f}; black less pink {np.round(shift_mm, 3)} mm")
    gain = found["one model"] - found["two models"]
    p = chi2.sf(max(gain, 0.0), len(com))
    print(f"two models gain {gain:.1f} with {len(com)} degrees of freedom: p = {p:.2f}")
    print("real counts, without any model:")
    for pig, table in counts.items():
        print(f"  {pig}: the two heights differ by {_differ(table)}")
    pooled = np.array([table.sum(axis=0) for table in counts.values()])
    print(f"  heights pooled, the two pigs differ by {_differ(pooled)}")


def deviance(counts: NDArray[np.int64], p: NDArray[np.float64]) -> float:
    """2 sum O ln(O / E) of counts (k,) under frequencies (k,)."""
    seen = counts > 0
    return float(2.0 * (counts[seen] * np.log(counts[seen] / (counts.sum() * p[seen]))).sum())


def _differ(table: NDArray[np.int64]) -> str:
    """G of the rows against one distribution for all."""
    together = table.sum(axis=0) / table.sum()
    g = sum(deviance(row, together) for row in table)
    df = (table.shape[0] - 1) * (table.shape[1] - 1)
    return f"G = {g:.1f}, df = {df}, p = {chi2.sf(g, df):.2g}"


if __name__ == "__main__":
    main()
