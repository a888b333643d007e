"""The roll and the dataset that the tests of pictures look at too."""

from tests.render.conftest import dataset, replay, source  # noqa: F401
