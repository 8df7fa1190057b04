"""The values that the parts of the model worker exchange. All of them are immutable."""
