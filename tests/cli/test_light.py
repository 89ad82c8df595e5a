"""Commands start quickly: what is large is loaded by what needs it."""

from __future__ import annotations

import subprocess
import sys


def test_listing_the_commands_loads_nothing_large() -> None:
    code = (
        "import sys; from innerview.cli import main; sys.argv = ['innerview', '--help']\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print(sorted({'torch', 'zarr', 'sklearn', 'openTSNE'} & set(sys.modules)))"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "gallery" in said  # commands that other packages bring, too
    assert said.splitlines()[-1] == "[]"
