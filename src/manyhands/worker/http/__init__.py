"""The model worker over HTTP, as clients of OpenAI, infinity and TEI expect it."""
