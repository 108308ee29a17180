"""Settings of the name server: the properties file, limits, access lists and TLS settings.

Pure.  It may import ``rocketwire_namesrv.events`` and the library.
"""
