"""Models that other packages bring: by name, and those of libraries that only their adapters know."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from inspect import isfunction
from typing import Any

from innerview.errors import SubjectError, UnknownName
from innerview.registry import load_plugins, plugins
from innerview.subjects.subject import Subject

_HINT = (
    "A model is PACKAGE:NAME, as in zoo:platformer; MODULE:FUNCTION, with a function that returns a subject; in the "
    "terminal also FILE.py:FUNCTION."
)


def named_model(text: str) -> tuple[Any, Any]:
    """What a name stands for, and its world where that is known.

    What stands before the colon is a package that adds models through the entry points `innerview.models`, or a module
    with the function that is named behind it.
    """
    home, colon, name = text.partition(":")
    models = plugins("models")
    if (plugin := models.get(home)) is not None:
        name, _, snapshot = name.partition(":")
        made, world = plugin.load()(name, **({"snapshot": snapshot} if snapshot else {}))
        return made, world
    if not colon or not _is_module(home):
        raise UnknownName("package of models", home, models, _HINT)
    module = import_module(home)
    function = getattr(module, name, None)
    if not callable(function):
        raise UnknownName(f"function in {home}", name, [n for n, v in vars(module).items() if isfunction(v)])
    made = function()
    return made if isinstance(made, tuple) and len(made) == 2 else (made, None)


def by_adapter(model: Any, settings: Mapping[str, Any]) -> Subject | None:
    """What the first adapter that knows this kind of model makes of it; none where none does.

    An adapter is a function under the entry points `innerview.adapters`: it takes the model and the settings that
    `iv.subject` was given, and returns a subject, or None for what it does not know.
    """
    for name, adapt in load_plugins("adapters").items():
        made = adapt(model, **settings)
        if isinstance(made, Subject):
            return made
        if made is not None:
            plugin = plugins("adapters")[name]
            raise SubjectError(f"{plugin} made {type(made).__name__}, not a subject. Its author has to mend that.")
    return None


def _is_module(home: str) -> bool:
    try:
        return find_spec(home) is not None
    except (ImportError, ValueError):
        return False
