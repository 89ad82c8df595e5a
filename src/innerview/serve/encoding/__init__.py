"""Tables, pictures and values as the browser reads them."""
