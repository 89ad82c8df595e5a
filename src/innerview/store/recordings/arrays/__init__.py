"""Arrays of a recording: how rows become bytes, and back."""
