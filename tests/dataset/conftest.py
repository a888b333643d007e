from __future__ import annotations

import sys
from pathlib import Path

# Worker processes get this path too, and find `fake_rolls` by name.
sys.path.insert(0, str(Path(__file__).parent))
