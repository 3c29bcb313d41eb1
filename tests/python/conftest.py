import os

# JAX takes three quarters of a GPU's memory at its start, from the other frameworks and processes.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import numpy as np  # noqa: E402
import pytest  # noqa: E402


@pytest.fixture
def random():
    return np.random.default_rng(1)
