"""The state of a broker: store, tables, schedule, waiting requests, frames to send."""
