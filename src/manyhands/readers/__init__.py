"""Reading what people wrote: every mistake is told with its file, line, field, value and a hint."""
