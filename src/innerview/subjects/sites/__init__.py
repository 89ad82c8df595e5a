"""Places inside a module that can be read and changed: addresses, hooks, attention maps and backward rules."""
