"""Pulls a range of a queue: by offset, without membership in a group, several pulls under way.

A range is cut into strides.  Each lane pulls one stride after the other; strides are passed on in
their order, so the messages of a range stay in order.  A broker answers with at most 32 messages
unless it is configured otherwise: a stride has as many as the first answer has.
"""

from __future__ import annotations

from collections import deque
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final, cast

import trio

from rocketwire.client.consumer.pull import PullRequest, build_pull_header
from rocketwire.client.consumer.queues import find_replica
from rocketwire.client.net.rpc import make_request
from rocketwire.codes import RequestCode, ResponseCode
from rocketwire.errors import (
    BrokerError,
    BrokerNotFoundError,
    ChannelError,
    ClientError,
    TopicRouteNotFoundError,
)
from rocketwire.messages import encode_header
from rocketwire.messages.message_queue import MessageQueue
from rocketwire.policy.routing import MOCK_BROKER_PREFIX
from rocketwire.policy.subscription import subscription_data
from rocketwire.wire.request_template import PreparedRequest, build_template
from rocketwire_tools.spark.topics import loss
from rocketwire_tools.spark.topics.connection import OF_TLS, describe, is_about_tls, pull_advice
from rocketwire_tools.spark.topics.loss import Loss
from rocketwire_tools.spark.topics.offsets import routing_topic
from rocketwire_tools.spark.topics.ranges import Chunk

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from rocketwire.client import ClientInstance
    from rocketwire.transport.channel import NextRequest
    from rocketwire.wire.command import RemotingCommand
    from rocketwire_tools.spark.topics.offsets import QueueRange
    from rocketwire_tools.spark.topics.options import PullSettings

LANES: Final = 4  # Pulls of a range that are under way; half as many if messages are large
LARGE: Final = 512 << 10  # Bytes of a large message
STRIDE: Final = 32
"""Messages of a stride at the beginning (Java: ``maxTransferCountOnMessageInMemory``)."""
MAX_PULL: Final = 1024  # Maximum messages of a pull
FILTERED_STRIDE: Final = 800  # Offsets that a broker looks at for one pull with a filter
CHUNK: Final = 2 << 20  # Fewest bytes that are decoded together, except at the end
FULL_CHUNK: Final = 4 << 20  # Bytes after which no further answer is decoded with them
AHEAD: Final = 8 << 20  # Bytes that are pulled before they are wanted, about
_PAUSE: Final = 0.2
_LONGEST_PAUSE: Final = 3.0

_FOUND: Final = int(ResponseCode.SUCCESS)
_NOTHING: Final = int(ResponseCode.PULL_NOT_FOUND)
_NO_MATCH: Final = int(ResponseCode.PULL_RETRY_IMMEDIATELY)
_MOVED: Final = int(ResponseCode.PULL_OFFSET_MOVED)
_TOPIC_GONE: Final = int(ResponseCode.TOPIC_NOT_EXIST)
_WITHOUT_MESSAGES: Final = frozenset((_FOUND, _NOTHING, _NO_MATCH, _MOVED))
_REPEATED: Final = frozenset(
    (_TOPIC_GONE, int(ResponseCode.SYSTEM_BUSY), int(ResponseCode.GO_AWAY))
)
_BETWEEN_BROKERS: Final = "RpcException"
"""Remark of a broker with a queue of a static topic that cannot ask the previous broker."""
_SHORTER: Final = 6
"""Divisor of the patience if a master reports that a queue is too short."""


class PullFailedError(Exception):
    """A range cannot be read; the text names topic, queue and broker, and gives advice."""


class _Stride:
    """Offsets that one lane pulls.

    Attributes:
        next_offset: offset of its next pull.
        size: bytes of them.
        shift: what has to be added to the offsets in its messages.
    """

    __slots__ = ("begin", "bodies", "end", "is_done", "losses", "next_offset", "shift", "size")

    def __init__(self, begin: int, end: int) -> None:
        self.begin = self.next_offset = begin
        self.end = end
        self.bodies: list[bytes] = []  # of its responses so far
        self.losses: list[Loss] = []  # its messages that are lost
        self.size = self.shift = 0
        self.is_done = False


class _Wait:
    """Longer and longer pauses between pulls that fail, until the patience ends."""

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self._since = trio.current_time()
        self._pause = _PAUSE

    async def once(self, *, is_short: bool) -> bool:
        """Wait; returns whether another pull is worth it."""
        limit = self._patience / (_SHORTER if is_short else 1)
        if trio.current_time() - self._since >= limit:
            return False
        await trio.sleep(self._pause)
        self._pause = min(2 * self._pause, _LONGEST_PAUSE)
        return True


class _QueueTooShortError(Exception):
    """A queue ends before an offset that it had."""


class _Chain:
    def __init__(self, pull: RangePull, stride: _Stride) -> None:
        self._pull = pull
        self.stride: _Stride = stride  # the one that is pulled now
        self.taken: RemotingCommand | None = None  # the last response whose messages were taken

    def position(self) -> tuple[int, int]:
        return self.stride.begin, self.stride.next_offset

    def follow(self, response: RemotingCommand) -> PreparedRequest | None:
        """Take a response; returns the next request, or None for a pause."""
        pull, stride = self._pull, self.stride
        if response.code == _FOUND and stride.bodies and _shift(response) != stride.shift:
            self.stride = stride = pull.split(stride)  # a static topic has moved here
        if response.code != _FOUND or not pull.take(stride, response):
            return None
        self.taken = response
        if stride.next_offset >= stride.end:
            pull.finish(stride)
            following = pull.next_stride()
            if following is None:
                return None
            self.stride = stride = following
        elif stride.size >= CHUNK:
            self.stride = stride = pull.split(stride)
        return None if pull.has_enough(stride) else pull.request_of(stride)


class RangePull:
    def __init__(
        self, client: ClientInstance, queue_range: QueueRange, settings: PullSettings
    ) -> None:
        self._client = client
        self._range = queue_range
        self._settings = settings
        self._queue = MessageQueue(
            topic=queue_range.topic, broker_name=queue_range.broker, queue_id=queue_range.queue_id
        )
        self._size = FILTERED_STRIDE if settings.is_filtered else STRIDE
        self._next_begin = queue_range.begin
        self._strides: deque[_Stride] = deque()
        self._ahead = 0
        self._lanes = LANES
        self._ready: deque[_Stride] = deque()
        self._ready_size, self._ready_end = 0, queue_range.begin
        self._losses = loss.Losses()
        self._error: Exception | None = None
        self._route_error: Exception | None = None
        self._arrived, self._taken = trio.lowlevel.ParkingLot(), trio.lowlevel.ParkingLot()
        self._build_form()

    def _build_form(self) -> None:
        queue_range, settings = self._range, self._settings
        kind = "SQL92" if settings.sql else None
        subscription = subscription_data(
            queue_range.topic,
            settings.sql or settings.tags or None,
            expression_type=kind,
            version=0,
        )
        request = PullRequest(
            queue=self._queue,
            offset=0,
            group=settings.group,
            subscription=subscription,
            max_msg_nums=MAX_PULL,
            suspend_timeout=0,
            send_subscription=True,
        )
        config = self._client.config
        header = build_pull_header(request, to_slave=True)
        fields = encode_header(header, serialize_type=config.serialize_type)
        changing = ("queueOffset", "maxMsgNums")
        rest = {name: text for name, text in fields.items() if name not in {*changing, "bname"}}
        command = make_request(config, RequestCode.PULL_MESSAGE, rest)
        form = build_template(command, changing, "bname")
        values = None if form is None else form.values((), queue_range.broker)
        if form is None or values is None:
            raise PullFailedError(f"{queue_range}: a pull cannot be encoded")
        self._form, self._broker_name = form, values

    def request_of(self, stride: _Stride) -> PreparedRequest:
        max_messages = MAX_PULL if self._settings.is_filtered else stride.end - stride.next_offset
        values = (stride.next_offset, max_messages, *self._broker_name)
        return PreparedRequest(self._form, values, b"")

    # ------------------------------------------------------------------ strides

    def next_stride(self) -> _Stride | None:
        begin = self._next_begin
        if begin >= self._range.end or self._ahead >= AHEAD:
            return None
        end = min(begin + self._size, self._range.end)
        stride = _Stride(begin, end)
        self._next_begin = end
        self._strides.append(stride)
        return stride

    def split(self, stride: _Stride) -> _Stride:
        rest = _Stride(stride.next_offset, stride.end)
        stride.end = stride.next_offset
        self._strides.insert(self._strides.index(stride) + 1, rest)
        self.finish(stride)
        return rest

    def has_enough(self, stride: _Stride) -> bool:
        is_first = self._strides[0] is stride
        return self._ahead >= AHEAD and (not is_first or self._is_ready())

    def finish(self, stride: _Stride) -> None:
        stride.is_done = True
        strides = self._strides
        while strides and strides[0].is_done:
            first = strides.popleft()
            self._ready.append(first)
            self._ready_size, self._ready_end = self._ready_size + first.size, first.end
        (self._arrived if self._is_ready() else self._taken).unpark_all()

    def _is_ready(self) -> bool:
        return self._ready_size >= CHUNK or self._ready_end >= self._range.end

    async def run(self) -> None:
        """Pull the range; ``next_chunk`` raises what goes wrong."""
        try:
            await self._learn()
            async with trio.open_nursery() as nursery:
                for _ in range(self._lanes):
                    nursery.start_soon(self._run_lane)
        except* Exception as errors:  # noqa: BLE001 - ``next_chunk`` raises it
            self._error = _first_error(errors)
        self._arrived.unpark_all()

    async def _learn(self) -> None:
        if self._range.topic != routing_topic(self._range.topic, self._range.broker):
            await self._refresh_route()  # otherwise its broker is not found
        if self._settings.is_filtered or len(self._range) <= STRIDE:
            return
        self._size = MAX_PULL
        stride = self.next_stride()
        self._size = STRIDE
        if stride is None:
            return
        await self._pull_once(stride)
        count = stride.next_offset - stride.begin
        if count:
            self._size = max(STRIDE, count)
            self._lanes = LANES // 2 if stride.size > LARGE * count else LANES
        stride.end = self._next_begin = min(stride.end, stride.begin + (count or STRIDE))
        if count:
            self.finish(stride)
        else:
            await self._pull_stride(stride)

    async def _run_lane(self) -> None:
        while True:
            stride = self.next_stride()
            if stride is not None:
                await self._pull_stride(stride)
            elif self._next_begin >= self._range.end:
                return
            else:
                await self._taken.park()

    async def _pull_stride(self, stride: _Stride) -> None:
        chain = _Chain(self, stride)
        wait = _Wait(self._settings.patience)
        while not chain.stride.is_done:
            while self.has_enough(chain.stride):
                await self._taken.park()
            before = chain.position()
            address, is_slave = "", False
            try:
                replica = await find_replica(self._client, self._queue)
                address, is_slave = replica.address, replica.is_slave
                response = await self._send(address, self.request_of(chain.stride), chain.follow)
                if response is not chain.taken:  # a pool that signs requests ignores ``follow``
                    chain.follow(response)
                if response is not chain.taken:
                    self._understand(chain.stride, response, address)
            except (ChannelError, ClientError, _QueueTooShortError) as error:
                self._refuse(error, address)
                if before != chain.position():
                    wait = _Wait(self._settings.patience)
                is_short = not isinstance(error, ChannelError) and not is_slave
                goes_on = await wait.once(is_short=is_short)
                await self._refresh_route()
                if not goes_on:
                    self._give_up(chain.stride, error, address)

    async def _pull_once(self, stride: _Stride) -> None:
        try:
            address = (await find_replica(self._client, self._queue)).address
            response = await self._send(address, self.request_of(stride), None)
        except (ChannelError, ClientError):
            return
        if response.code == _FOUND:
            self.take(stride, response)

    async def _send(
        self, address: str, request: PreparedRequest, follow: NextRequest | None
    ) -> RemotingCommand:
        now = trio.current_time()
        deadline = now + self._settings.timeout
        return await self._client.pool.request_by(
            address, request, started=now, deadline=deadline, follow=follow
        )

    async def _refresh_route(self) -> None:
        self._route_error = None
        try:
            await self._client.refresh_route(routing_topic(self._range.topic, self._range.broker))
        except TopicRouteNotFoundError:  # the next pull reports it
            return
        except (ChannelError, ClientError) as error:
            self._route_error = error

    # ------------------------------------------------------------------ responses

    def take(self, stride: _Stride, response: RemotingCommand) -> bool:
        offset = _number(response, "nextBeginOffset")
        if offset is None or offset <= stride.next_offset or not response.body:
            return False
        stride.bodies.append(response.body)
        stride.size += len(response.body)
        self._ahead += len(response.body)
        stride.shift = _shift(response)
        stride.next_offset = offset
        return True

    def _understand(self, stride: _Stride, response: RemotingCommand, address: str) -> None:
        if response.code not in _WITHOUT_MESSAGES:
            raise BrokerError(response.code, response.remark, RequestCode.PULL_MESSAGE, address)
        offset = _number(response, "nextBeginOffset")
        min_offset, max_offset = (_number(response, name) for name in ("minOffset", "maxOffset"))
        if offset is None or min_offset is None or max_offset is None or response.code == _FOUND:
            raise PullFailedError(f"{self._range}: broker {address} sends invalid answers to pulls")
        if response.code == _NO_MATCH and offset > stride.next_offset:
            # offsets of a static topic go on at a higher one where it has moved
            is_static = self._range.broker.startswith(MOCK_BROKER_PREFIX)
            if not self._settings.is_filtered and not is_static:
                self._lose(stride, min(offset, stride.end), loss.REMOVED)
            self._advance(stride, offset)
        elif response.code != _NO_MATCH and stride.next_offset < min_offset <= max_offset:
            self._lose(stride, min(min_offset, stride.end), loss.DELETED)
            self._advance(stride, min_offset)
        else:
            raise _QueueTooShortError

    def _advance(self, stride: _Stride, offset: int) -> None:
        stride.next_offset = offset
        if offset >= stride.end:
            self.finish(stride)

    def _lose(self, stride: _Stride, end: int, reason: str) -> None:
        lost = Loss(*self._range.queue, stride.next_offset, end, reason)
        if self._settings.fails_on_loss:
            loss.report_loss(lost, fails=True)
        stride.losses.append(lost)  # reported in the order of offsets

    def _refuse(self, error: Exception, address: str) -> None:
        if not isinstance(error, BrokerError) or error.code in _REPEATED:
            return
        if _BETWEEN_BROKERS in (error.remark or ""):  # it learns the other's address a moment later
            return
        remark = (error.remark or "no remark").splitlines()[0]
        raise PullFailedError(
            f"{self._range}: broker {address} refuses the pull ({int(error.code)}: {remark});"
            f" {pull_advice(error)}"
        ) from None

    def _give_up(self, stride: _Stride, error: Exception, address: str) -> None:
        if isinstance(error, _QueueTooShortError):
            self._lose(stride, stride.end, loss.SHORT)
        elif isinstance(error, BrokerError) and error.code == _TOPIC_GONE:
            self._lose(stride, stride.end, loss.TOPIC_GONE)
        elif isinstance(error, (TopicRouteNotFoundError, BrokerNotFoundError)):
            if self._route_error is not None:  # no name server answered: the broker may exist
                names = str(self._client.config.namesrv_addr)
                raise PullFailedError(f"{self._range}: {describe(self._route_error, names)}")
            self._lose(stride, stride.end, loss.QUEUE_GONE)
        else:
            advice = "see whether it runs and whether this machine reaches its address"
            raise PullFailedError(
                f"{self._range}: broker {address} does not answer for"
                f" {self._settings.patience:g} s ({error});"
                f" {OF_TLS if is_about_tls(error) else advice}"
            )
        self._advance(stride, stride.end)

    # ------------------------------------------------------------------ chunks

    async def next_chunk(self) -> Chunk | None:
        while not self._is_ready():
            if self._error is not None:
                self._losses.report()
                raise self._error
            await self._arrived.park()
        ready = self._ready
        if not ready:
            self._losses.report()
            return None
        bodies, size, lost, shift = list[bytes](), 0, 0, 0
        begin = end = ready[0].begin
        while ready and size < FULL_CHUNK:
            if bodies and ready[0].bodies and ready[0].shift != shift:
                break
            stride = ready.popleft()
            bodies, shift = bodies + stride.bodies, stride.shift if stride.bodies else shift
            size, end = size + stride.size, stride.end
            lost += self._losses.take(stride.losses)
        self._ready_size -= size
        self._ahead -= size
        self._taken.unpark_all()
        return Chunk(begin, end, bodies, shift, lost)


def _first_error(error: Exception) -> Exception:
    while isinstance(error, ExceptionGroup):
        error = cast("ExceptionGroup[Exception]", error).exceptions[0]
    return error


def _shift(response: RemotingCommand) -> int:
    return _number(response, "offsetDelta") or 0


def _number(response: RemotingCommand, name: str) -> int | None:
    text = (response.ext_fields or {}).get(name)
    if not text or len(text) > 20:
        return None
    try:
        return int(text)
    except ValueError:
        return None


@asynccontextmanager
async def open_pull(
    client: ClientInstance, queue_range: QueueRange, settings: PullSettings
) -> AsyncGenerator[RangePull]:
    pull = RangePull(client, queue_range, settings)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(pull.run)
        yield pull
        nursery.cancel_scope.cancel()
