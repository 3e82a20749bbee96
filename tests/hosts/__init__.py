# SPDX-License-Identifier: MIT
"""A package, so that its conftest is not confused with that of tests/python."""
