"""Jobs about edited subjects, from what somebody asked over the wire."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from innerview.errors import RequestError
from innerview.interventions.ablation_test import MOST_CONTROLS, MOST_LEVELS, USUAL_LEVELS, ask_proof
from innerview.jobs.arguments import whole
from innerview.jobs.engine import Progress
from innerview.jobs.runner import Task
from innerview.rollouts.live import LARGEST_SEED, Live
from innerview.store import load_edited


def prove_task(live: Live, arguments: Mapping[str, Any]) -> Task:
    """An edited subject put to the proof beside its original and controls."""
    edited = load_edited(live.study, str(arguments.get("edited", "")))
    if edited.root not in live.subjects:
        raise RequestError(
            f"'{edited.name}' was made of '{edited.root}', which is not live here. Serve the study with it: "
            "innerview serve STUDY --subject …, or iv.show(study, subject=…, world=…)."
        )
    recording, original, world = live.player({**arguments, "subject": edited.root})
    seed = arguments.get("seed")
    invisible = arguments.get("invisible") or ""
    if not isinstance(invisible, str):
        raise RequestError(f"invisible is a class of things, not {invisible!r:.40}; nothing where left out.")
    question = ask_proof(
        live.study,
        recording,
        edited,
        original,
        world,
        levels=whole(arguments, "levels", usual=USUAL_LEVELS, least=1, most=MOST_LEVELS),
        seed=None if seed is None else whole(arguments, "seed", usual=0, least=0, most=LARGEST_SEED),
        controls=whole(arguments, "controls", usual=1, least=0, most=MOST_CONTROLS),
        invisible=invisible,
    )

    def work(progress: Progress) -> dict[str, Any]:
        return {"result": question.answer(progress).id}

    return Task(title=question.title, work=work, unit="episodes", promise={"result": question.id})
