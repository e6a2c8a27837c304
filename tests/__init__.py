"""Tests of the package. A failed assertion of their helpers shows its values, as one of a test does."""

import pytest

pytest.register_assert_rewrite(*(f"tests.{name}" for name in ("browser", "meshes", "view_page", "view_trace")))
