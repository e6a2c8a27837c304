"""Parameter sweeps: many scenarios with many seeds, on all cores or a cluster, kept and never computed twice.

`fourhop.Sweep` describes one, `fourhop.sweep` runs it, `fourhop.SweepResult` has its tables.
"""
