"""The docs that come with innerview, and their Markdown."""
