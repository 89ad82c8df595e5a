"""What people run: record, re-run, what-if rollouts, evaluation, snapshots."""
