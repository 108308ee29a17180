"""Parts of a collection: each asks one broker about one subject, and adds samples."""
