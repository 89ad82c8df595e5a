"""The k-items task: gather items in the right order in a maze of Doom never seen before."""
