"""Things that a broker could do wrong: changes of single lines of ours, each with the case that has to notice."""

import __future__

import importlib
import inspect
import textwrap
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Defect:
    function: str  #: module below ``rocketwire_broker`` and the function in it, or class and method
    line: str  #: a part of its source that occurs once
    instead: str  #: what the defective broker has there
    case: str  #: id of the case that notices it, without ``broker/``

    def __str__(self) -> str:
        return f"{self.function} {self.line[:40]}"


def _plain(target: Any) -> Any:
    for name in ("fget", "__func__", "__wrapped__"):
        target = getattr(target, name, target)
    return target


@contextmanager
def present(defect: Defect) -> Generator[None]:
    # Run with the defect: the function has other code in all modules that imported it.
    module_name, _, path = defect.function.partition(":")
    module = importlib.import_module(f"rocketwire_broker.{module_name}")
    target: Any = module
    for name in path.split("."):
        target = inspect.getattr_static(target, name)
    function = _plain(target)
    source = textwrap.dedent(inspect.getsource(function))
    assert source.count(defect.line) == 1, f"{defect}: not one such line in\n{source}"
    changed = source.replace(defect.line, defect.instead)
    flags = __future__.annotations.compiler_flag
    names: dict[str, Any] = {}
    # the changed function must not be declared as the handler of its code
    scope = {**vars(module), "handles": lambda *_, **__: lambda handler: handler}
    exec(compile(changed, f"<{defect}>", "exec", flags), scope, names)
    code = function.__code__
    function.__code__ = _plain(names[function.__name__]).__code__
    try:
        yield
    finally:
        function.__code__ = code


DEFECTS = (
    # what is sent
    Defect("handlers.sends:_send", "message.properties[CLUSTER] = broker.config.cluster_name", "pass", "310/8"),
    Defect("handlers.sends:_send", '"transactionId": message.properties[UNIQ_KEY],', '"transactionId": "x",', "310/12"),
    Defect("handlers.sends:_send", "flag=header.flag", "flag=0", "310/7"),
    Defect("handlers.sends:_send", "born_timestamp=header.born_timestamp", "born_timestamp=now", "310/24"),
    Defect("handlers.sends:_send", '"queueId": str(queue_id),', '"queueId": str(message.queue_id),', "delay/2"),
    Defect("handlers.sends:find_topic", "if name in SEND_FORBIDDEN_TOPICS:", "if False:", "310/39"),
    Defect("handlers.sends:find_topic", "topic_problem(name)", "None", "names/3"),
    Defect("handlers.sends:choose_queue", "queue_id >= max(", "queue_id > max(", "310/100"),
    Defect("handlers.sends:choose_queue", "broker.store.put_count %", "1 +", "310/26"),
    Defect("handlers.sends:check_size", "> limit or", ">= limit or", "310/18"),
    Defect("handlers.sends:_check_retry", "broker.locks.is_any_held(name, now)", "False", "41/10"),
    Defect("handlers.sends:_check_retry", "header.reconsume_times > (", "header.reconsume_times >= (", "310/112"),
    Defect("handlers.sends:_store_batch", "positions[0].queue_offset", "positions[-1].queue_offset", "320/1"),
    Defect("handlers.sends:_store_batch", 'for position in positions),', "for position in positions[:1]),", "320/2"),
    Defect("handlers.sends:_store_batch", " or DELAY in batch.properties", "", "320/9"),
    Defect("handlers.sends:_store_batch", "flag=item.flag", "flag=batch.flag", "320/3"),
    Defect("tables.topics:Topics.create_by_send", "min(queues, template.write_queue_nums)", "queues", "310/104"),
    Defect("tables.topics:Topics.create_by_send", "not template.perm & _INHERIT", "False", "310/107"),
    Defect("state.broker:Broker.message_id", "{physical:016X}", "{physical:016x}", "310/2"),
    # what is read
    Defect("handlers.pulls:read", 'NOT_FOUND, "OFFSET_OVERFLOW_ONE"', 'MOVED, "OFFSET_OVERFLOW_ONE"', "11/3"),
    Defect("handlers.pulls:read", '"OFFSET_OVERFLOW_BADLY", queue.max_offset', '"OFFSET_OVERFLOW_BADLY", offset', "11/4"),
    Defect("handlers.pulls:read", '"NO_MATCHED_MESSAGE", found.next_offset', '"NO_MATCHED_MESSAGE", offset', "11/24"),
    Defect("handlers.pulls:pull", "max(1, min(", "max(0, min(", "11/9"),
    Defect("handlers.pulls:pull", "if sys_flag & _COMMIT:", "if True:", "11/31"),
    Defect("handlers.pulls:_check", "if not topic.perm & _READ:", "if False:", "11/15"),
    Defect("handlers.pulls:_check", "if not group.consume_enable:", "if False:", "11/17"),
    Defect("handlers.pulls:_check", "pull_request.queue_id < topic", "pull_request.queue_id <= topic", "11/13"),
    Defect("handlers.pulls:_find_subscription", '< integer(fields, "subVersion", 0)', "< 0", "11/102"),
    Defect("handlers.pulls:_hold", "if outcome.code not in {NOT_FOUND, RETRY}:", "if True:", "hold/5"),
    Defect("state.broker:Broker.settle", "woken = self.waits.find_waiting(arrivals)", "woken = []", "hold/1"),
    Defect("storage.filters:_select_filtered", "Selection(records, offsets, last_offset + 1)", "Selection(records, offsets, last_offset)", "11/22"),
    Defect("storage.filters:_select_filtered", "len(records) >= count", "len(records) > count", "11/29"),
    Defect("storage.filters:_cut_to_size", "size > max_bytes and index", "size > max_bytes", "11/11"),
    Defect("storage.filters:Filter.passes", "return tag_code in self.codes", "return True", "11/22"),
    Defect("storage.queue:Queue.offset_at", "bisect_left(", "bisect_right(", "29/4"),
    Defect("storage.message:Message.tags_code", "code_of_tag(tag) if tag", "abs(code_of_tag(tag)) if tag", "321/3"),
    Defect("handlers.queries:query_message", "heapq.nlargest", "heapq.nsmallest", "12/3"),
    Defect("storage.key_search:KeySearch._has_key", ".split(KEY_SEPARATOR)", ".split('|')", "12/1"),
    # offsets
    Defect("tables.offsets:Offsets.commit", "[queue_id] = offset", ".setdefault(queue_id, offset)", "15/2"),
    Defect("tables.offsets:Offsets.reset", "self._resets.setdefault((group, topic), {})[queue_id] = offset", "pass", "222/4"),
    Defect("tables.offsets:Offsets.take_reset", "resets.pop(queue_id, None)", "resets.get(queue_id)", "222/4"),
    Defect("handlers.offsets:update_consumer_offset", "broker.offsets.pending_reset(group, topic, queue_id) is not None", "False", "222/3"),
    Defect("handlers.offsets:offset_at", "queue.offset_until(timestamp) - 1", "queue.offset_until(timestamp)", "29/3"),
    # members and locks
    Defect("tables.members:Members.join", "self._put(group.members, member) or is_changed", "self._put(group.members, member) and False or is_changed", "40/1"),
    Defect("tables.members:Members.join", "group.subscriptions, group.size = subscriptions, size", "group.subscriptions.update(subscriptions)", "203/3"),
    Defect("tables.members:Members.remove", "self._leave_producers(connection_number, name)", "pass", "204/3"),
    Defect("state.broker:Broker.remove_peer", "self.notify_members(group, now)", "pass", "40/4"),
    Defect("state.broker:Broker.notify_members", " or group.is_broadcasting", "", "40/8"),
    Defect("state.broker:Broker.notify_members", "not config.notify_consumer_ids_changed_enable", "False", "40/10"),
    Defect("tables.locks:Locks.lock", "lock.client_id == client_id or", "True or", "41/2"),
    Defect("tables.locks:Locks.unlock", " and lock.client_id == client_id", "", "42/2"),
    Defect("tables.locks:Locks._is_free", "> self._expiry_ms", "> self._expiry_ms // 2", "41/8"),
    # delayed
    Defect("handlers.retries:send_back", "message.reconsume_times = times + 1", "pass", "36/1"),
    Defect("handlers.retries:send_back", "properties.setdefault(RETRY_TOPIC, message.topic)", "properties[RETRY_TOPIC] = message.topic", "36/5"),
    Defect("handlers.retries:send_back", "times >= max_retries", "times > max_retries", "36/6"),
    Defect("handlers.retries:send_back", "level < 0 or ", "", "36/7"),
    Defect("delayed.delays:postpone", "message.tag_code = now + delays[level - 1]", "message.tag_code = now", "delay/1"),
    Defect("delayed.delays:restore_message", "int(message.properties[REAL_QUEUE_ID])", "0", "delay/2"),
    Defect("delayed.timers:_deliver_one", "not _is_recalled(broker, message)", "False", "timer/1"),
    Defect("tables.timers:Timers.recall", "self._recalled.add(key)", "pass", "370/3"),
    Defect("handlers.recalls:_recall", "if handle.topic != topic:", "if False:", "370/4"),
    Defect("delayed.transactions:is_half", 'if properties.get(TRANSACTION_PREPARED, "").lower() != "true":', "if True:", "37/1"),
    Defect("delayed.transactions:_next_producer", "broker.members.producers_of(group).values()", "broker.members.producer(name) for name in ()", "39/1"),
    Defect("handlers.transactions:_find", "message.properties.get(PRODUCER_GROUP) != header.producer_group", "False", "37/13"),
    Defect("handlers.transactions:end_transaction", "message.sys_flag |= COMMIT", "pass", "37/5"),
    Defect("handlers.transactions:end_transaction", "if decision == COMMIT:", "if True:", "37/9"),
    Defect("handlers.replies:reply", "answer is not None and answer.code == ResponseCode.SUCCESS", "answer is not None", "325/4"),
    # pops
    Defect("handlers.pops.pop:_take_of_queue", "broker.offsets.commit(*group_queue, offset, now)", "pass", "200050/3"),
    Defect("handlers.pops.pop:_note", "{','.join(map(str, offsets))}", "{start}", "200050/2"),
    Defect("delayed.pop_revive:_store_in_retry_topic", "message.reconsume_times += 1", "pass", "return/2"),
    Defect("delayed.pop_revive:show", "timer = broker.pops.take(message)", "timer = None", "200051/2"),
    Defect("tables.pop_orders:PopOrders.is_blocked", "return now < pop.visible_time()", "return False", "order/1"),
    Defect("tables.pop_orders:PopOrders.is_blocked", "(attempt_id and attempt_id == pop.attempt_id)", "False", "order/4"),
    # administration
    Defect("storage.store:Store.delete_topic", "self._queues.pop(topic, {})", "self._queues.get(topic, {})", "215/10"),
    Defect("tables.groups:Groups.delete", "self._groups.pop(name, None)", "self._groups.get(name)", "207/1"),
    Defect("handlers.admin.progress:_progress", "queue.store_time(offset - 1)", "queue.store_time(offset)", "208/2"),
    Defect("state.statistics:Statistics.note_put", "self.put.total += 1", "pass", "28/2"),
    Defect("handlers.assignments:_queues_of", "strategy.allocate(client_id, queues, clients) if queues else ()", "queues", "400/1"),
    Defect("protocol.session:Session._handle", " and not request.flag & _ONEWAY", "", "310/16"),
    Defect("protocol.session:Session._respond", "ResponseCode.REQUEST_CODE_NOT_SUPPORTED", "1", "header/2"),
)  # fmt: skip
