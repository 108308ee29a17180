"""``rocketwire-conformance``: compares the behaviour of any name server with Java's, with evidence.

* A *case* is one requirement with an address (``ns/103/4``), written as data (``model/case.py``).
* Its *steps* send requests or await responses (``model/steps.py``); each await has its acceptable
  *outcomes* (``model/outcomes.py``).
* A *target* is the server under test, running already or started by the suite (``run/target.py``).
* A *case run* executes one case against one target (``run/executor.py``); its result is a
  *verdict*.

``cases/__init__.py`` explains how to write a case. The package depends on the library and on no
name server.
"""
