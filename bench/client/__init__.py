"""Our clients beside Java's at one Java broker, by the CPU time that the client's own process takes."""
