"""What all clients of both facades share: each uses an open ``Client``, or opens its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from rocketwire.client.instance.instance import ClientInstance, open_client
from rocketwire.portal.methods import Facade, ForLoops, ForThreads
from rocketwire.portal.settings import apply_client_settings, reopens

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager
    from typing import Unpack

    from rocketwire.client.config import ClientConfig
    from rocketwire.client.instance.instance import Client
    from rocketwire.portal.settings import ClientSettings


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
