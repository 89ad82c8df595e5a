"""What is drawn, beside what is stored: the study read by polars, zarr, numpy and json alone."""
