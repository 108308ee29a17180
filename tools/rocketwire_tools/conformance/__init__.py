"""``rocketwire-conformance``: asks any RocketMQ name server whether it behaves as Java's does, and shows the evidence.

Words of this package:

* a *case* is one requirement with an address (``ns/103/4``), written as data (``model/case.py``);
* its *steps* say what is sent and awaited (``model/steps.py``), each await with its acceptable *outcomes* (``model/outcomes.py``);
* a *target* is the server that is asked, running already or started by the suite (``run/target.py``);
* a *play* is one case being carried out against one target (``run/executor.py``), which ends in a *verdict*.

How to write a case is told in ``cases/__init__.py``.  The package stands alone: it knows the library and no name server.
"""
