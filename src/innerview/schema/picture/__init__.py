"""Pictures: what may be done to recorded ones before a subject sees them."""
