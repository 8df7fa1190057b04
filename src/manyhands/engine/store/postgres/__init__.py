"""The journal in a PostgreSQL database: many may ask, several may stand by, one leads."""
