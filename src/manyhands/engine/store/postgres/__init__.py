"""The journal in a PostgreSQL database: many may ask, several may stand by, one leads.

The lock is a lease: a row with a token that every append looks up and locks in its own statement. A thread with its
own connection renews it and listens for requests. Another dispatcher takes over when the database's clock says that
the lease has run out.
"""
