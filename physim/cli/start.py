"""Where `physim` starts: nothing is loaded yet that a Ctrl-C could catch half-way."""

from __future__ import annotations

import os
import signal
import warnings

# The matrices are small: threads of a linear algebra library would only wait for one another.
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def main() -> None:
    """Loads the command line and runs it."""
    warnings.formatwarning = lambda message, *_, **__: f"physim: {message}\n"
    for name in _THREADS:
        os.environ.setdefault(name, "1")
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        # A module that is still loading would answer Ctrl-C with a traceback.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        from physim.cli.main import main as run

        signal.signal(signal.SIGINT, signal.default_int_handler)
    else:  # such as ignored, as `nohup` has it
        from physim.cli.main import main as run
    run()
