"""Pulls of logical queues: 11 and 361.

Java: ``PullMessageProcessor.rewriteRequestForStaticTopic``, ``rewriteResponseForStaticTopic``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rocketwire.codes import ResponseCode
from rocketwire.flags import PullSysFlag
from rocketwire_broker.handlers.fields import integer
from rocketwire_broker.handlers.logical.queues import (
    LogicalQueue,
    has_end,
    logical,
    logical_or_unknown,
    physical,
)
from rocketwire_broker.handlers.logical.reply import Reply, ask
from rocketwire_broker.handlers.pulls import pull as pull_here
from rocketwire_broker.state.response import Response

if TYPE_CHECKING:
    from rocketwire.messages.static_topics import LogicQueueMappingItem
    from rocketwire_broker.handlers.fields import Handler

_NOT_HERE: Final = "{queue} cannot find mapping item in request process of current broker {broker}"
_WAITS: Final = int(PullSysFlag.SUSPEND)
_COMMITS: Final = int(PullSysFlag.COMMIT_OFFSET)


def pull(handler: Handler, queue: LogicalQueue, reply: Reply) -> None:
    """Read the section that has the offset, here or at another broker, and tell where to go on."""
    queue.leader(_NOT_HERE)
    offset = integer(reply.fields, "queueOffset")
    item = queue.item_at(offset)
    start = physical(item, offset)
    changes = {"queueOffset": str(start)}
    if has_end(item):
        most = min(item.end_offset - item.start_offset, integer(reply.fields, "maxMsgNums"))
        changes["maxMsgNums"] = str(most)

    commit = integer(reply.fields, "commitOffset", -1)
    sys_flag = integer(reply.fields, "sysFlag")
    if commit >= 0 and queue.item_at(commit) == item:
        changes["commitOffset"] = str(physical(item, commit))
    else:  # it is the offset of another section
        sys_flag &= ~_COMMITS

    def convert(response: Response) -> Response:
        return _converted(response, queue, item, start)

    if item.bname == queue.broker_name:

        def handle(*arguments: Any) -> Response | None:
            return pull_here(*arguments, convert=convert)

        ask(handle, item, reply, {**changes, "sysFlag": str(sys_flag)}, reply)
        return
    changes["sysFlag"] = str(sys_flag & ~(_WAITS | _COMMITS))
    ask(handler, item, reply, changes, lambda response: reply(convert(response)))


def _converted(
    response: Response, queue: LogicalQueue, item: LogicQueueMappingItem, start: int
) -> Response:
    """Return an answer with logical offsets; at the end of a section it leads to the next one."""
    fields = response.ext_fields or {}
    if "nextBeginOffset" not in fields:
        return response
    following, least, most = (
        integer(fields, name) for name in ("nextBeginOffset", "minOffset", "maxOffset")
    )
    code = response.code
    decided = queue.decided()
    is_last, is_first = item.gen == queue.items[-1].gen, item.gen == decided[0].gen
    if code != ResponseCode.SUCCESS:
        if is_last and start < least:
            code, following = ResponseCode.PULL_RETRY_IMMEDIATELY, least
        if is_first and start < least:
            code, following = ResponseCode.PULL_OFFSET_MOVED, least
        elif not is_first and not is_last and start < least:
            code, following = ResponseCode.PULL_RETRY_IMMEDIATELY, least
        elif (is_first or not is_last) and start >= most:
            after = queue.item_after(item)
            if after is None:
                code = ResponseCode.PULL_NOT_FOUND
            else:
                code, item = ResponseCode.PULL_RETRY_IMMEDIATELY, after
                following = least = most = after.start_offset
    if has_end(item):
        following = min(following, item.end_offset)
    last = queue.items[-1]
    logical_fields = {
        **fields,
        "nextBeginOffset": str(logical(item, following)),
        "minOffset": str(logical(item, max(item.start_offset, least))),
        "maxOffset": str(max(logical(item, most), logical_or_unknown(last, last.end_offset))),
        "offsetDelta": str(item.logic_offset - item.start_offset),
    }
    remark = response.remark if response.code == ResponseCode.SUCCESS else None
    return Response(code, remark, logical_fields, response.body)
