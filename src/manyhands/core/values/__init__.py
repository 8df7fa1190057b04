"""The values everything else speaks in: tasks, hosts, endings, widths. All of them are immutable."""
