"""Our clients under faults: every acknowledged message has to be consumed, and no task or
connection may leak."""
