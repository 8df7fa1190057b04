"""The model worker's HTTP API, which clients of OpenAI, infinity and TEI can use unchanged."""
