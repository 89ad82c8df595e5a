"""The live connection: the newest request wins, jobs report, and live subjects answer."""
