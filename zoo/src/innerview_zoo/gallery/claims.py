"""What the paper says of its methods, and what the same question finds with these agents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from innerview.saliency.learning.measures import contrast
from innerview.trust.actions import difference_of
from innerview.trust.interval import Interval
from innerview.trust.maps import signed_strength, strength
from innerview.trust.stability import stability
from innerview_zoo.gallery.agents import RecordedAgent
from innerview_zoo.gallery.maps import (
    DISCRIMINATIVE,
    G1,
    G2,
    GRADCAM,
    GRADIENT,
    GUIDED,
    GUIDED_GRADCAM,
    METHODS,
    Method,
    maps,
)

Verdict = Literal["holds", "does not hold", "in part"]
Measured = tuple[Verdict, list[str], list[list[str]]]
"""A verdict, and a small table: its head, and its lines."""
ACTIONS = 3
"""Actions whose maps are compared in each step."""


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A claim of the paper."""

    text: str
    where: str
    question: str
    """What was measured instead of judged by eye, and when it counts as holding."""
    measure: Callable[[Sequence[RecordedAgent], Sequence[RecordedAgent]], Measured]
    """Of the six agents and of their younger ages."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A claim with what was measured."""

    claim: Claim
    verdict: Verdict
    head: list[str]
    lines: list[list[str]]


def found(claims: Sequence[Claim], agents: Sequence[RecordedAgent], younger: Sequence[RecordedAgent]) -> list[Finding]:
    """All of them measured."""
    made = []
    for claim in claims:
        verdict, head, lines = claim.measure(agents, younger)
        made.append(Finding(claim=claim, verdict=verdict, head=head, lines=lines))
    return made


def _verdict(held: Sequence[bool]) -> Verdict:
    return "holds" if all(held) else "in part" if any(held) else "does not hold"


def _seen_again(agent: RecordedAgent, method: Method) -> Interval | None:
    shown = maps(agent, method).last()[:, None]
    result = stability(strength(shown), [(0, len(shown))])
    return None if result is None else result.seen_again


def _share(value: Interval | None) -> str:
    return "empty maps" if value is None else f"{100 * value.mean:.0f} % ({100 * value.low:.0f}–{100 * value.high:.0f})"


def _percent(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.0f} %"


def _stable(agents: Sequence[RecordedAgent], younger: Sequence[RecordedAgent]) -> Measured:
    lines, held = [], []
    for agent in agents:
        again = {method.title: _seen_again(agent, method) for method in METHODS}
        best = max((value.mean, title) for title, value in again.items() if value is not None)[1]
        held.append(best == GUIDED.title)
        lines.append([agent.row.title, *(_share(value) for value in again.values()), best])
    return _verdict(held), ["agent", *(method.title for method in METHODS), "most stable"], lines


def _noisy(agents: Sequence[RecordedAgent], younger: Sequence[RecordedAgent]) -> Measured:
    lines, held = [], []
    for agent in agents:
        plain, guided = _seen_again(agent, GRADIENT), _seen_again(agent, GUIDED)
        held.append(plain is not None and guided is not None and guided.low > plain.high)
        lines.append([agent.row.title, _share(plain), _share(guided)])
    return _verdict(held), ["agent", GRADIENT.title, GUIDED.title], lines


def _products(agents: Sequence[RecordedAgent], younger: Sequence[RecordedAgent]) -> Measured:
    lines, held = [], []
    for agent in agents:
        guided = _seen_again(agent, GUIDED)
        row = [agent.row.title, _share(guided)]
        for method in (GUIDED_GRADCAM, G2):
            again, made = _seen_again(agent, method), maps(agent, method)
            held.append(again is None or (guided is not None and again.high < guided.low))
            row += [_share(again), _percent(made.inverted)]
        lines.append(row)
    head = ["agent", GUIDED.title]
    head += [title for method in (GUIDED_GRADCAM, G2) for title in (method.title, "its CAM inverted in")]
    return _verdict(held), head, lines


def _inverted_while_young(agents: Sequence[RecordedAgent], younger: Sequence[RecordedAgent]) -> Measured:
    lines, held = [], []
    for agent in agents:
        young = [each for each in younger if each.row.name == agent.row.name]
        if not young:
            continue
        shares = [(each.row.age, maps(each, GRADCAM).inverted) for each in young]
        last = maps(agent, GRADCAM).inverted
        assert last is not None  # Grad-CAM says
        held.append(all(share is not None and share > last for _, share in shares))
        lines.append([agent.row.title, ", ".join(f"{age} {_percent(share)}" for age, share in shares), _percent(last)])
    return _verdict(held), ["agent", "younger", "final"], lines


def _g1_less_inverted(agents: Sequence[RecordedAgent], younger: Sequence[RecordedAgent]) -> Measured:
    lines, held = [], []
    for agent in agents:
        plain, guided = maps(agent, GRADCAM).inverted, maps(agent, G1).inverted
        assert plain is not None and guided is not None  # both are CAMs
        held.append(guided < plain or plain == guided == 0)
        lines.append([agent.row.title, _percent(plain), _percent(guided)])
    return _verdict(held), ["agent", GRADCAM.title, G1.title], lines


def _actions(agents: Sequence[RecordedAgent], younger: Sequence[RecordedAgent]) -> Measured:
    methods = (GRADCAM, G1, GUIDED, DISCRIMINATIVE)
    lines, held = [], []
    for agent in agents:
        head = agent.subject.acting_head
        assert head is not None  # Atari agents act
        row, means = [agent.row.title], {}
        for method in methods:
            asked = agent.actions[:ACTIONS]
            own = [
                {"action": name} if method is DISCRIMINATIVE else {"target": f"{name} of {head.name}"} for name in asked
            ]
            shown = [signed_strength(maps(agent, method, **parameters).last()[:, None]) for parameters in own]
            result = difference_of(shown)
            means[method.title] = None if result is None else result.differs
            row.append(_share(means[method.title]))
        cams = [means[GRADCAM.title], means[G1.title]]
        guided = means[GUIDED.title]
        held.append(guided is not None and all(cam is None or cam.high < guided.low for cam in cams))
        lines.append(row)
    return _verdict(held), ["agent", *(method.title for method in methods)], lines


def _skill(agents: Sequence[RecordedAgent], younger: Sequence[RecordedAgent]) -> Measured:
    lines, held = [], []
    for agent in agents:
        ages = [each for each in younger if each.row.name == agent.row.name]
        if not ages:
            continue
        values = [float(contrast(maps(each, GUIDED).heat).mean()) for each in (*ages, agent)]
        held.append(all(a < b for a, b in pairwise(values)))
        told = (f"{each.row.age} {value:.3g}" for each, value in zip((*ages, agent), values, strict=True))
        lines.append([agent.row.title, " → ".join(told)])
    return _verdict(held), ["agent", "contrast by age"], lines


def _time(agents: Sequence[RecordedAgent], younger: Sequence[RecordedAgent]) -> Measured:
    lines, held = [], []
    for agent in agents:
        if not agent.row.name.endswith("_dqn"):
            continue
        heat = maps(agent, GUIDED).heat
        whole = np.abs(heat).sum(axis=(2, 3)).mean(axis=0)
        lean = heat.sum(axis=(2, 3)).mean(axis=0) / np.maximum(whole, 1e-30)
        held.append(int(lean.argmax()) == len(lean) - 1 and int(lean.argmin()) == 0)
        names = [f"t−{back}" if back else "t" for back in range(len(lean) - 1, -1, -1)]
        lines.append([agent.row.title, ", ".join(f"{n} {v:+.2f}" for n, v in zip(names, lean, strict=True))])
    return _verdict(held), ["agent", "positive less negative, as a share of a frame's map"], lines


def _first_layer(agents: Sequence[RecordedAgent], younger: Sequence[RecordedAgent]) -> Measured:
    lines, held = [], []
    for agent in agents:
        layers = agent.subject.convolutions
        shares = [maps(agent, GRADCAM, layer=layer).inverted for layer in layers]
        first, later = shares[0], [share for share in shares[1:] if share is not None]
        assert first is not None  # Grad-CAM says
        held.append(all(first <= share for share in later))
        lines.append([agent.row.title, ", ".join(f"{n} {_percent(s)}" for n, s in zip(layers, shares, strict=True))])
    return _verdict(held), ["agent", "inverted by layer"], lines


def _streams(agents: Sequence[RecordedAgent], younger: Sequence[RecordedAgent]) -> Measured:
    lines, held = [], []
    for agent in agents:
        if not {"value", "advantage"} <= {head.kind for head in agent.subject.info.heads}:
            continue
        value = maps(agent, GUIDED, target="value").last()
        advantage = maps(agent, GUIDED, target=f"{agent.actions[0]} of advantage").last()
        result = difference_of([signed_strength(each[:, None]) for each in (value, advantage)])
        held.append(result is not None and result.differs.low > 0.5)
        lines.append([agent.row.title, _share(None if result is None else result.differs)])
    return _verdict(held), ["agent", "of one stream's map, lies elsewhere in the other's"], lines


CLAIMS = (
    Claim(
        text="Guided backpropagation gives the most stable maps, for all agents in both games.",
        where="section 4.1",
        question="Share of the strongest 1 % of pixels with one of them close by in the next step. Holds where guided "
        "backpropagation has the highest of the six methods.",
        measure=_stable,
    ),
    Claim(
        text="The plain gradient is noisy.",
        where="section 4.1",
        question="The same share. Holds where that of guided backpropagation is higher and the intervals are apart.",
        measure=_noisy,
    ),
    Claim(
        text="Products with a CAM (guided Grad-CAM, G2Grad-CAM) are unstable, as inverted CAMs zero them.",
        where="section 4.1",
        question="The same share beside guided backpropagation's alone, and how often the CAM is inverted.",
        measure=_products,
    ),
    Claim(
        text="Grad-CAM is inverted more often for agents that are trained less.",
        where="section 4.1, figure 46",
        question="Share of steps in which less than a tenth of the signed CAM is positive. Holds where every younger "
        "age has more.",
        measure=_inverted_while_young,
    ),
    Claim(
        text="G1Grad-CAM is inverted less often than Grad-CAM.",
        where="section 4.1",
        question="The same share.",
        measure=_g1_less_inverted,
    ),
    Claim(
        text="Higher layers give inverted CAMs more often; the first convolution is best.",
        where="section 4.1, figure 41",
        question="The same share by layer.",
        measure=_first_layer,
    ),
    Claim(
        text="CAMs do not tell actions apart.",
        where="section 4.2",
        question=f"Share of one action's map that lies elsewhere in another's, over pairs of the first {ACTIONS} "
        "actions. Holds where both CAMs have less than guided backpropagation, with intervals apart.",
        measure=_actions,
    ),
    Claim(
        text="The better an agent is trained, the stronger positive and negative gradients meet.",
        where="section 4.1",
        question="Mean step between neighbouring pixels of opposite sign under guided backpropagation. Holds where it "
        "grows with age.",
        measure=_skill,
    ),
    Claim(
        text="In the DDDQN the newest frame is the most positive and the oldest the most negative.",
        where="section 4.3",
        question="Sum of each frame's guided map over its size.",
        measure=_time,
    ),
    Claim(
        text="Value and advantage stream look at different things.",
        where="section 4.1, after Wang and others 2015",
        question="Share of one stream's guided map that lies elsewhere in the other's. Holds where that is more than "
        "half.",
        measure=_streams,
    ),
)
