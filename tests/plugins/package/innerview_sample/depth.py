"""How strongly each convolution answers."""

from __future__ import annotations

import numpy as np

from innerview.schema import Axis, Chart, Lens, Rows, Series, Watch, unwatched
from innerview.subjects import Subject

LENS = Lens(
    name="depth",
    question="How strongly does each layer answer?",
    needs=("convolution",),
    yields="chart",
    paper="Glorot, Bengio 2010: Understanding the difficulty of training deep feedforward neural networks",
)


def look(rows: Rows, subject: Subject, *, watch: Watch = unwatched) -> Chart:
    """Mean and largest size of what each convolution puts out."""
    places = np.arange(min(rows.count, 64))
    sizes = []
    for number, site in enumerate(subject.convolutions):
        watch(number, len(subject.convolutions), site)
        sizes.append(np.abs(rows.activations(site, places).detach().cpu().numpy()))
    means, most = [float(size.mean()) for size in sizes], [float(size.max()) for size in sizes]
    series = tuple(
        Series(name=name, x=list(subject.convolutions), y=values, mark="bar")
        for name, values in (("mean", means), ("largest", most))
    )
    return Chart(x=Axis(name="layer"), y=Axis(name="size of the activation"), series=series)
