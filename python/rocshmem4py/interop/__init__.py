# SPDX-License-Identifier: MIT
"""Symmetric memory as the arrays of other libraries; each module needs its library, and nothing here imports one."""
