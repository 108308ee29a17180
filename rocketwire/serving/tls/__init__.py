"""TLS: certificates, cipher suites, and streams that encrypt."""
