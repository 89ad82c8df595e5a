"""What is asked of a memory: its elements in an order, its tiles, its rows around events."""
