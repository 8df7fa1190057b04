"""The values the model worker speaks in. All of them are immutable."""
