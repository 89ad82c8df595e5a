"""The paper's tables of methods, streams, frames and ages, made with the zoo's Atari agents; its claims measured."""
