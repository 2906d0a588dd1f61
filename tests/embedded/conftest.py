"""Fixtures of the embedded servers."""

import os
import shutil

import pytest


@pytest.fixture(scope="session")
def java() -> None:
    """Asks for Java and Maven: skips without them on a laptop, goes on and fails in CI."""
    if os.environ.get("CI") != "true" and not (shutil.which("java") and shutil.which("mvn")):
        pytest.skip("Java or Maven is not installed")
