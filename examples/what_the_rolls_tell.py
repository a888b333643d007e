"""Which combinations of the fitted parameters the real rolls tell, from a fit's own covariance.

    python examples/what_the_rolls_tell.py [calibration/fits/standard]

Parameters are measured in their priors' standard deviations. The eigenvectors of the posterior
covariance are combinations that are identified independently of each other; a variance of 1 means
that the rolls said nothing beyond the prior, one near 0 that they fix the combination.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from physim import config
from physim.files import data_folder

shipped = data_folder("calibration") / "fits" / "standard"
folder = Path(sys.argv[1]) if len(sys.argv) > 1 else shipped
fit = config.load(folder / "fit.yaml")
names = list(fit["parameters"])
if "posterior_correlation" not in fit:
    sys.exit(f"{folder}: a fit by CMA-ES tells no posterior; use `--method surface`")
spread = np.array([p["posterior_sd"] / p["prior_sd"] for p in fit["parameters"].values()])
correlation = np.array(fit["posterior_correlation"])
variances, ways = np.linalg.eigh(correlation * np.outer(spread, spread))
ways = ways * np.sign(ways[np.abs(ways).argmax(axis=0), range(len(names))])
for variance, way in zip(variances, ways.T, strict=True):
    order = np.argsort(-np.abs(way))
    words = [f"{way[k]:+.2f} {names[k]}" for k in order if abs(way[k]) >= 0.3]
    verdict = "identified" if variance < 0.5 else "weakly identified"
    print(f"{variance:5.2f}  {verdict:17}  {'  '.join(words)}")
