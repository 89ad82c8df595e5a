"""The paper's tables of methods, streams, frames and ages, made with the zoo's Atari agents, and its claims measured."""
