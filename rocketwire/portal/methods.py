"""``delegate``: a method of a trio client, declared once for both facades.

A class of this package lists methods, as ``send_to: Final = delegate(TrioProducer.send_to)``. A
class of a facade inherits the list and ``ForThreads`` or ``ForLoops``, and gets functions that wait
for the result, or coroutine functions. Parameters, types and docstrings are those of trio's client.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from functools import wraps
from inspect import iscoroutinefunction, signature
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Concatenate,
    Generic,
    ParamSpec,
    Protocol,
    TypeVar,
    cast,
    overload,
)

from rocketwire.client.instance.instance import ClientInstance, open_client
from rocketwire.portal.settings import apply_client_settings, reopens

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager
    from typing import Unpack

    from rocketwire.client.config import ClientConfig
    from rocketwire.client.instance.instance import Client
    from rocketwire.portal.settings import ClientSettings

P = ParamSpec("P")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)
T = TypeVar("T")
Function = Callable[..., Any]


class _Delegate:
    def __init__(self, method: Function) -> None:
        async def call(client: Any, /, *arguments: Any, **named: Any) -> Any:
            return method(client, *arguments, **named)

        self.method = method
        self.in_trio = method if iscoroutinefunction(method) else call


class Facade:
    _original: ClassVar[type[Any]] = object
    _build: ClassVar[Any] = None  # function of (method, what calls it in trio)

    if TYPE_CHECKING:

        @property
        def _client_in_trio(self) -> Any:
            """The trio client."""

    def __init_subclass__(cls, *, of: type[Any] | None = None) -> None:
        """Build the methods; ``of`` is the class whose docstrings it and its members get."""
        super().__init_subclass__()
        if of is not None:
            cls._original = of
        if cls._build is not None:
            cls._build_methods()
        cls.__doc__ = cls.__doc__ or cls._original.__doc__
        for name, member in list(vars(cls).items()):
            original = getattr(cls._original, name, None)
            if name.startswith("_") or original is None or member.__doc__ is not None:
                continue
            if isinstance(member, property):
                setattr(cls, name, property(member.fget, doc=original.__doc__))
            else:
                member.__doc__ = original.__doc__

    @classmethod
    def _build_methods(cls) -> None:
        # help(), inspect and mocks have to see functions or coroutine functions, no descriptors
        members = {n: m for base in reversed(cls.__mro__) for n, m in vars(base).items()}
        for name, member in members.items():
            if isinstance(member, _Delegate):
                setattr(cls, name, cls._build(member.method, member.in_trio))


def _blocking(method: Function, in_trio: Function) -> Function:
    @wraps(method)
    def call(self: Any, *arguments: Any, **named: Any) -> Any:
        return self._call(in_trio, *arguments, **named)

    return call


def _awaitable(method: Function, in_trio: Function) -> Function:
    @wraps(method)
    async def call(self: Any, *arguments: Any, **named: Any) -> Any:
        return await self._call(in_trio, *arguments, **named)

    return call


class ForThreads(Facade):
    _build = staticmethod(_blocking)


class ForLoops(Facade):
    _build = staticmethod(_awaitable)


class PartOfClient(Facade):
    def __init__(self, owner: Any, find: Callable[[Any], object]) -> None:
        self._owner = owner
        self._find = find

    def _call(self, method: Function, /, *arguments: Any, **named: Any) -> Any:
        async def call(client: object) -> Any:
            return await method(self._find(client), *arguments, **named)

        return self._owner._call(call)


class Method(Protocol, Generic[P, R_co]):
    @overload
    def __get__(
        self, instance: ForLoops, owner: type[Any]
    ) -> Callable[P, Coroutine[Any, Any, R_co]]: ...
    @overload
    def __get__(self, instance: ForThreads, owner: type[Any]) -> Callable[P, R_co]: ...
    @overload
    def __get__(self, instance: object, owner: type[Any]) -> Callable[..., Any]: ...


@overload
def delegate(method: Callable[Concatenate[Any, P], Awaitable[R]]) -> Method[P, R]: ...
@overload
def delegate(method: Callable[Concatenate[Any, P], R]) -> Method[P, R]: ...
def delegate(method: Function) -> Any:
    """Declare a method of a trio client, which may be a coroutine function or a plain one."""
    return cast("Any", _Delegate(method))


def opens(cls: Callable[P, T]) -> Callable[[Function], Callable[P, T]]:
    """Let a function, which is only a docstring, create an instance as the class does."""

    def decorate(function: Function) -> Callable[P, T]:
        @wraps(function)
        def create(*arguments: P.args, **named: P.kwargs) -> T:
            return cls(*arguments, **named)

        vars(create)["__signature__"] = signature(cls).replace(return_annotation=cls)
        return create

    return decorate


class ClientUser(Facade):
    def _use_client(
        self,
        client: object,
        open_trio: Callable[[Client], AbstractAsyncContextManager[Any]],
        **more: Any,
    ) -> None:
        kind = ForLoops if isinstance(self, ForLoops) else ForThreads

        def opener() -> AbstractAsyncContextManager[Any]:
            if isinstance(client, ClientMethods) and isinstance(client, kind):
                return open_trio(client.instance)
            return open_trio(cast("Client", client))

        open_facade: Any = super().__init__  # of ``FacadeClient``
        open_facade(opener, reopens=reopens(client), **more)


class ClientMethods(ClientUser):
    def __init__(
        self, config: ClientConfig | str | None = None, **settings: Unpack[ClientSettings]
    ) -> None:
        """For arguments and errors see ``open_client``."""
        resolved = apply_client_settings(config, settings)
        self.reopens_after_fork: bool = reopens(resolved)
        self._use_client(resolved, cast("Any", open_client))

    @property
    def client_id(self) -> str:
        """The client id."""
        return self.instance.client_id

    @property
    def config(self) -> ClientConfig:
        """The settings."""
        return self.instance.config

    @property
    def instance(self) -> ClientInstance:
        """The trio client."""
        instance: ClientInstance = self._client_in_trio
        return instance
