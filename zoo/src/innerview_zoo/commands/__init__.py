"""What the zoo adds to the command `innerview`: zoo, demo, diversity and explorable."""
