"""Tests of the programs for Linux. A failed assertion of their helpers shows its values, as one of a test does."""

import pytest

pytest.register_assert_rewrite(*(f"tests.linux.{name}" for name in ("aodvd", "border", "wifi")))
