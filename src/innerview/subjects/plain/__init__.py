"""Any torch.nn.Module: how it is called, tried out, and made a subject."""
