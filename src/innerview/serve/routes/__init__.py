"""One module a noun of the API: decode the request, call the store or jobs, encode the reply."""
