"""What a lens is given of a recording: inputs, memory, columns and episodes, read when they are asked for."""
