"""Hooks of sends that are called by the sender."""

from types import SimpleNamespace
from typing import Any

import pytest

from rocketwire.client import ClientHook, Message
from rocketwire.client.hooks import HookChain, SendMessageContext
from rocketwire.errors import IllegalMessageTypeError
from rocketwire.portal.direct import call_hooks


class Watcher(ClientHook):
    """Records its calls."""

    is_thread_safe = True

    def __init__(self) -> None:
        self.seen: list[object] = []

    def send_message_before(self, context: SendMessageContext) -> object:
        self.seen.append("before")
        return "state"

    def send_message_after(self, context: SendMessageContext, state: object) -> None:
        self.seen += [state, context.send_result, context.exception]


PRODUCER: Any = SimpleNamespace(instance=None, group="g")


def test_hooks_see_the_error_of_the_block() -> None:
    hook, error = Watcher(), KeyboardInterrupt()
    with (
        pytest.raises(KeyboardInterrupt),
        call_hooks(HookChain([hook]), PRODUCER, Message("t", b"x")),
    ):
        raise error

    assert hook.seen == ["before", "state", None, error]


def test_hooks_do_not_see_other_types_than_messages() -> None:
    hook, nothing = Watcher(), SimpleNamespace()
    with (
        pytest.raises(IllegalMessageTypeError),
        call_hooks(HookChain([hook]), PRODUCER, nothing),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType] - invalid on purpose
    ):
        pass

    assert hook.seen == []
