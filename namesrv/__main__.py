"""``python namesrv`` in a checkout starts the name server, installed or not."""

import runpy
import sys
from pathlib import Path

sys.path[1:1] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parents[1])]
runpy.run_module("rocketwire_namesrv", run_name="__main__", alter_sys=True)
