"""The values that all other code uses: tasks, hosts, endings, widths. They are immutable."""
