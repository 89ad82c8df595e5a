"""Decodes a request, calls jobs or store, encodes the reply. The only room with pydantic and HTTP.

Closed by default: loopback only, and everything but the files of the built page needs the token.
"""

from innerview.serve.app import create_app
from innerview.serve.handle import Handle, serve, show

__all__ = ["Handle", "create_app", "serve", "show"]
