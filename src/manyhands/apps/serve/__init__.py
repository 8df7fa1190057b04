"""The dispatcher people leave running: it watches backlogs, runs what they want and writes back what came of it."""
