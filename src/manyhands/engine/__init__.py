"""The live loop around the core, with its store, its deliveries and its simulator.

A turn of the dispatcher takes what arrived, lets the scheduler decide, writes inputs and decisions in one
transaction, then carries out the commands and acknowledges. Other processes leave durable requests in the store and
wake the dispatcher; nothing polls.

After a crash the newest snapshot and the events after it rebuild the book. Processes that were in flight are killed
by recorded id and start time, with their group and everything that carries their marker. Only then do their
attempts end as lost and their claims become free.
"""
