"""Says what a lens lacks: one place for page, terminal and Python."""

from __future__ import annotations

from collections.abc import Callable

from innerview.errors import LensError
from innerview.schema import Lens, RecordingInfo, SubjectInfo, is_depth, is_pose

NO_SUBJECT = (
    "'{lens}' runs the model again, and no model is loaded. Give one: look(…, subject=…), or innerview lens … "
    "--subject zoo:NAME (or FILE.py:FUNCTION); for the page innerview serve STUDY --subject zoo:NAME, or "
    "iv.show(study, subject=…)."
)
Check = Callable[[RecordingInfo, "SubjectInfo | None"], str]
"""Says what is missing and what to do; nothing where nothing is."""


def unmet_needs(lens: Lens, recording: RecordingInfo, subject: SubjectInfo | None) -> tuple[str, ...]:
    """What is missing, a sentence or two each; none where the lens can be run."""
    if lens.settings.get("missing"):
        return (f"'{lens.name}' {lens.settings['missing']}",)
    if lens.runs_subject and subject is None:
        return (NO_SUBJECT.format(lens=lens.name),)
    given = subject if lens.runs_subject else None
    found = (_CHECKS[need](recording, given) for need in lens.needs)
    return tuple(f"'{lens.name}' {problem}" for problem in found if problem)


def check_needs(lens: Lens, recording: RecordingInfo, subject: SubjectInfo | None) -> None:
    """Raise LensError with everything that is missing."""
    problems = unmet_needs(lens, recording, subject)
    if problems:
        raise LensError(" ".join(problems))


def _input(kind: str, what: str) -> Check:
    def check(recording: RecordingInfo, subject: SubjectInfo | None) -> str:
        if subject is None:
            there = any(spec.role == "observation" and spec.is_image == (kind == "image") for spec in recording.arrays)
            return "" if there else f"needs {what}; recording '{recording.name}' has none."
        there = any(spec.kind == kind for spec in subject.inputs)
        return "" if there else f"needs {what}; subject '{subject.name}' has no {kind} input."

    return check


def _head(*kinds: str) -> Check:
    def check(recording: RecordingInfo, subject: SubjectInfo | None) -> str:
        known = subject or recording.subject
        if known is not None and any(head.kind in kinds for head in known.heads):
            return ""
        whose = f"subject '{known.name}' has none" if known else f"'{recording.name}' does not say who recorded it"
        return f"needs a head of kind {' or '.join(kinds)}; {whose}."

    return check


def _memory(recording: RecordingInfo, subject: SubjectInfo | None) -> str:
    if subject is not None and not subject.memory:
        return f"needs memory; subject '{subject.name}' has none."
    if subject is None and not any(spec.role == "memory" for spec in recording.arrays):
        return (
            f"needs memory. Recording '{recording.name}' has no memory: its subject has none, or its memory was not "
            "found when it was adapted. Declare it with iv.subject(…, memory={name: shape}) and record again."
        )
    return ""


def _convolution(recording: RecordingInfo, subject: SubjectInfo | None) -> str:
    known = subject and (subject.convolutions or not subject.layers)
    return "" if subject is None or known else f"needs a convolution over pictures; '{subject.name}' has none."


def _attention(recording: RecordingInfo, subject: SubjectInfo | None) -> str:
    return "" if subject is None or subject.attention else f"needs attention; subject '{subject.name}' has none."


def _masks(recording: RecordingInfo, subject: SubjectInfo | None) -> str:
    if any(spec.role == "mask" for spec in recording.arrays):
        return ""
    return f"needs masks; '{recording.name}' has none. Your own environment provides them with iv.world(env, masks=…)."


def _classes(recording: RecordingInfo, subject: SubjectInfo | None) -> str:
    if any(spec.role == "mask" for spec in recording.arrays) or any(c.type == "objects" for c in recording.columns):
        return ""
    return (
        f"needs to know what is where in the picture; '{recording.name}' has no masks and names no objects. Your own "
        "environment provides masks with iv.world(env, masks=…)."
    )


def _episodes(recording: RecordingInfo, subject: SubjectInfo | None) -> str:
    return "" if recording.ordering else f"needs rows with time; those of '{recording.name}' have none."


def _domains(recording: RecordingInfo, subject: SubjectInfo | None) -> str:
    sides: dict[str, set[str]] = {}
    for spec in recording.arrays:
        if spec.domain and spec.pair:
            sides.setdefault(spec.pair, set()).add(spec.domain)
    if any(len(domains) > 1 for domains in sides.values()):
        return ""
    return (
        f"needs rows that two domains show; '{recording.name}' has no arrays of a pair, such as sim.rgb and real.rgb. "
        "Import paired images with innerview import."
    )


def _pose(recording: RecordingInfo, subject: SubjectInfo | None) -> str:
    known = subject or recording.subject
    if known is not None and any(head.kind == "pose" for head in known.heads):
        return ""
    whose = known.name if known else recording.name
    return f"needs a pose head; '{whose}' has none. Declare it: iv.subject(…, heads={{'pose': 'pose'}})."


def _depth(recording: RecordingInfo, subject: SubjectInfo | None) -> str:
    lacking = [] if any(is_depth(spec) for spec in recording.arrays) else ["pictures of depth with a unit (mm)"]
    parts = {column.pose for column in recording.columns if is_pose(column)}
    lacking += [] if {"x", "y", "angle"} <= parts else ["the recorded pose (columns of x, y and angle)"]
    lacking += [] if recording.scene else ["a map with a camera"]
    return f"needs {', '.join(lacking)}; '{recording.name}' has none." if lacking else ""


def _nothing(recording: RecordingInfo, subject: SubjectInfo | None) -> str:
    return ""


_CHECKS: dict[str, Check] = {
    "subject": _nothing,
    "gradients": _nothing,
    "image input": _input("image", "an image input"),
    "vector input": _input("vector", "a vector input"),
    "policy": _head("policy", "gaussian"),
    "value": _head("value", "q"),
    "q": _head("q"),
    "memory": _memory,
    "attention": _attention,
    "convolution": _convolution,
    "masks": _masks,
    "classes": _classes,
    "episodes": _episodes,
    "domains": _domains,
    "pose": _pose,
    "depth": _depth,
}
