"""The k-items agent: conv + GRU-128 that gathers items in order in mazes never seen before."""
