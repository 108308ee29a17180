"""Our clients and Java's at a Java broker, by the CPU time of the client's process."""
