"""``wait_for_signal`` of threads."""

import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from rocketwire.sync import wait_for_signal


def test_the_handlers_of_signals_are_as_before_once_one_has_come() -> None:
    handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]

    def send_signal() -> None:
        while signal.getsignal(signal.SIGTERM) is handlers[1]:
            time.sleep(0.001)
        os.kill(os.getpid(), signal.SIGTERM)

    sender = threading.Thread(target=send_signal)
    sender.start()

    assert wait_for_signal() is signal.SIGTERM
    sender.join()
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == handlers


def test_another_thread_gets_no_signals() -> None:
    with ThreadPoolExecutor(1) as threads, pytest.raises(RuntimeError, match="main thread"):
        threads.submit(wait_for_signal).result()
