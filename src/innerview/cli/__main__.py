"""python -m innerview.cli"""

from innerview.cli import main

main()
