"""What tasks leave behind: answers saved in the workspace, and copies of files that are kept with the attempt."""
