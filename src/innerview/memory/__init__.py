"""Says what a recurrent state holds. Pure: arrays in, new ones out; no disk, no network, no other compute room.

One lens a file: a module with a `LENS` that describes it and a function `look`. What lenses share stands in files of
its own: `orders` sorts elements, `facts` makes yes-or-no facts of columns.
"""
