"""What people change and measure: reductions of the memory, sweeps, the smallest memory, ablations and their tests."""
