"""The clutch: it finds the width of a host and says why. Its parts each answer one question."""
