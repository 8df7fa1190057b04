"""The journal in a PostgreSQL database. Many processes may leave requests, several may stand by, and one leads.

The lock is a lease: a row with a token, which every append looks up and locks in its own statement. A thread with its
own connection renews the lease and listens for requests. Another dispatcher takes over when the lease has run out by
the database's clock.
"""
