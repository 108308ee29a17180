"""Ten minutes of everything at once: brokers that come and go, readers, junk; does the name server
stay as small as it was?"""
