"""Says of attentions whether tokens attend to their own stream or to another: what a run's tensors come of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from innerview.subjects.structure import parts

_Sources = frozenset[object]


class Streams:
    """Follows a run from its inputs on. What an attention puts out is a source of its own."""

    def __init__(self, inputs: Mapping[str, Tensor]) -> None:
        self._sources: dict[int, tuple[Tensor, _Sources]] = {}
        """By id, with the tensor itself so that no other gets its id."""
        self._products: dict[int, tuple[Tensor, str]] = {}
        """Products of two tensors, and what may have become of them since: the scores of an attention."""
        for name, value in inputs.items():
            self._note(value, frozenset({name}))

    def between(self, query: Tensor, key: Tensor) -> str:
        """`self` where both come of the same tensors, `cross` where not, empty where neither comes of an input."""
        one, other = self._of(query), self._of(key)
        return "" if not (one or other) else "self" if one == other else "cross"

    def of_scores(self, scores: Tensor) -> str:
        """The same for a product of query and key; empty where it is none."""
        return self._products[id(scores)][1] if id(scores) in self._products else ""

    def follow(self, given: tuple[Any, ...], result: Any, *, mixed: bool, product: bool) -> None:
        """Notes what one operation made of its arguments; `mixed`: it is what an attention puts out."""
        taken = [part.value for part in parts(given)]
        # Putting values into a part of a tensor returns nothing, and changes it.
        made = taken[:1] if result is None else [part.value for part in parts(result)]
        sources = [frozenset({object()})] if mixed else [self._of(value) for value in taken]
        products = [self._products[id(value)][1] for value in taken if id(value) in self._products]
        if product and len(taken) > 1:
            products = [self.between(*taken[-2:])]
        for value in made:
            self._note(value, frozenset().union(*sources))
            if products:
                self._products[id(value)] = (value, products[0])

    def _of(self, value: Tensor) -> _Sources:
        return self._sources[id(value)][1] if id(value) in self._sources else frozenset()

    def _note(self, value: Tensor, sources: _Sources) -> None:
        if sources:
            self._sources[id(value)] = (value, sources)
