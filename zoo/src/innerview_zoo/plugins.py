"""What the zoo adds to innerview, for checkouts that are not installed; `pyproject.toml` says the same."""

PLUGINS = {
    "worlds": {
        "doom:kitems": "innerview_zoo.worlds:make_kitems",
        "office": "innerview_zoo.worlds:make_office",
        "office:tour": "innerview_zoo.worlds:make_office_tour",
        "platformer": "innerview_zoo.worlds:make_platformer",
    },
    "models": {"zoo": "innerview_zoo.catalogue:load"},
    "commands": {
        "demo": "innerview_zoo.commands.demo:demo",
        "diversity": "innerview_zoo.commands.diversity:diversity",
        "explorable": "innerview_zoo.commands.explorable:explorable",
        "gallery": "innerview_zoo.commands.gallery:gallery",
        "train": "innerview_zoo.commands.train:train",
        "zoo": "innerview_zoo.commands.models:zoo",
    },
}
