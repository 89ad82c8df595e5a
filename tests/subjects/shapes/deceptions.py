"""What becomes of modules made to deceive: adapted rightly all the same, or refused."""

from __future__ import annotations

import torch

from innerview import subject
from tests.subjects.shapes import deceivers, modules
from tests.subjects.shapes.table import VECTOR, Shape, afresh, handed_back, pair, stateless

BOTH = {"policy": "policy", "value": "value"}
DECEIVERS: tuple[Shape, ...] = (
    Shape(
        name="a layer called policy, masked after it, read in order",
        build=deceivers.MaskedLayer,
        adapt=lambda m: subject(m, example=VECTOR, heads=BOTH),
        by_hand=stateless(),
    ),
    Shape(
        name="a layer called policy, masked after it, read alone",
        build=deceivers.MaskedLayer,
        adapt=lambda m: subject(m, example=VECTOR, heads={"policy": "policy"}),
        refused=r"read off layer 'policy', but what the module returns as '0' is something else.*\{'0': 'policy'\}",
    ),
    Shape(
        name="a choice that is masked before it is made",
        build=deceivers.MaskedChoice,
        adapt=lambda m: subject(m, example=VECTOR, heads={"policy": "policy"}),
        refused=r"the action that the module returns is not the best of it.*Return what the action is chosen from",
    ),
    Shape(
        name="log probabilities of masked logits",
        build=modules.MaskedAgent,
        refused="an action that is drawn at random .* no layer puts out the logits it is drawn from",
    ),
    Shape(
        name="logits before they are masked",
        build=modules.MaskedAgent,
        adapt=lambda m: subject(m, example=VECTOR, heads={"actor": "policy"}),
        refused="the log probability that the module returns is another one: it is masked or scaled after that layer",
    ),
    Shape(
        name="outputs swapped",
        build=deceivers.Swapped,
        adapt=lambda m: subject(m, example=VECTOR, heads=BOTH),
        refused=r"'policy' \(policy\) would be '0', which has 1 number a row.*'0' of 1, '1' of 3: name them",
    ),
    Shape(
        name="twins swapped",
        build=deceivers.SwappedTwins,
        adapt=lambda m: subject(m, example=VECTOR, heads={"policy": "policy", "prior": "other"}),
        by_hand=lambda m, steps: [{"policy": m(s["x"])[1]} for s in steps],
    ),
    Shape(
        name="dropout that never stops",
        build=deceivers.Noisy,
        refused="'0' is drawn at random.*no dropout or noise in eval mode",
    ),
    Shape(name="noise of numpy", build=deceivers.NumpyNoise, refused="drawn at random"),
    Shape(name="noise that no seed reaches", build=deceivers.OwnGenerator, refused="does not repeat itself"),
    Shape(name="a latent state that is drawn", build=deceivers.SampledState, refused="drawn at random"),
    Shape(
        name="normalised over the batch",
        build=deceivers.OverTheBatch,
        refused="depends on the other rows of a batch.*not over the batch",
    ),
    Shape(
        name="batch statistics in eval mode",
        build=deceivers.BatchStatistics,
        refused="not one alone, so it depends on the other rows.*track_running_stats",
    ),
    Shape(name="a count kept elsewhere", build=deceivers.Elsewhere, refused="keeps something outside of the module"),
    Shape(
        name="writes into its input",
        build=deceivers.InPlace,
        by_hand=lambda m, steps: [pair(m(s["x"].clone())) for s in steps],
    ),
    Shape(
        name="writes into its state",
        build=deceivers.InPlaceState,
        by_hand=lambda m, steps: handed_back(lambda _: torch.zeros(1, 6))(m, steps),
    ),
    Shape(
        name="other in training",
        build=lambda: deceivers.Trained().train(),
        by_hand=lambda m, steps: [pair(m.eval()(s["x"])) for s in steps],
    ),
    Shape(
        name="an eval() of its own, not called",
        build=lambda: deceivers.OwnEval().train(),
        refused=r"differs by up to .* from the module called by hand.*eval\(\) of its own, call it before",
    ),
    Shape(
        name="an eval() of its own, called",
        build=lambda: deceivers.OwnEval().eval(),
        by_hand=stateless(),
    ),
    Shape(
        name="value tied to the logits",
        build=deceivers.Tied,
        by_hand=stateless(),
    ),
    Shape(
        name="a state that moves at every second step",
        build=modules.SecondStep,
        by_hand=afresh(hidden=lambda: None, count=lambda: 0),
    ),
    Shape(name="another from the third call on", build=modules.Ripens, by_hand=afresh(calls=lambda: 0)),
    Shape(name="a state returned detached, under another key", build=modules.OtherKey, by_hand=handed_back(key="next")),
    Shape(name="a history without end", build=deceivers.Grows, refused=r"new form at each of 64 steps.*maxlen=8"),
    Shape(
        name="a state under a name that says nothing",
        build=deceivers.Context,
        refused=r"forward takes 'z' and returns '2'.*memory=\{'z': \(6,\)\}, or memory=False",
    ),
    Shape(
        name="a state under a name that says nothing, declared",
        build=deceivers.Context,
        adapt=lambda m: subject(m, example=VECTOR, memory={"z": (6,)}),
        by_hand=handed_back(),
        memory=("z",),
    ),
    Shape(name="changes its weights", build=deceivers.Learns, refused="changes its weights"),
    Shape(
        name="a state for two games",
        build=deceivers.FixedRows,
        refused="could not be run on a batch",
    ),
    Shape(name="a state in numpy", build=deceivers.NumpyState, refused="cannot be carried: 'kept' is ndarray"),
    Shape(
        name="a state that is declined",
        build=modules.Attribute,
        adapt=lambda m: subject(m, example=VECTOR, memory=False),
        refused="from the module called by hand|was carried",
    ),
)
