"""Things that a server could do wrong: changes of single lines of ours, each with the case that has to notice."""

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
    function: (
        str  #: module below the package of the server and the function in it, or class and method
    )
    line: str  #: a part of its source that occurs once
    instead: str  #: what the defective broker has there
    case: str  #: id of the case that notices it; of a broker without ``broker/``

    def __str__(self) -> str:
        return f"{self.function} {self.line[:40]}"


def _plain(target: Any) -> Any:
    for name in ("fget", "__func__", "__wrapped__"):
        target = getattr(target, name, target)
    return target


@contextmanager
def present(defect: Defect, package: str) -> Generator[None]:
    # Run with the defect: the function has other code in all modules that imported it.
    module_name, _, path = defect.function.partition(":")
    module = importlib.import_module(f"{package}.{module_name}")
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


NAME_SERVER = (
    # frames
    Defect("protocol.session:_command", "opaque=opaque,", "opaque=opaque + 1,", "transport/5"),
    Defect("protocol.session:_command", "opaque=opaque,", "opaque=abs(opaque),", "header/34"),
    Defect("protocol.session:_command", "flag=CommandFlag.RESPONSE,", "flag=CommandFlag.RESPONSE | CommandFlag.ONEWAY,", "transport/5"),
    Defect("protocol.session:Session._handle_all", "close = _without_frames(error)", "pass", "transport/10"),
    Defect("protocol.session:Session._handle_all", "if command.flag & _RESPONSE:", "if False:", "header/100"),
    Defect("protocol.session:Session._add_response", "if not request.flag & _ONEWAY:", "if True:", "header/101"),
    Defect("protocol.session:Session._answer", "ResponseCode.REQUEST_CODE_NOT_SUPPORTED, remark", "1, remark", "header/106"),
    Defect("protocol.session:Session._answer", 'f" request type', 'f"request type', "header/106"),
    Defect("protocol.session:Session._add_response", "frame = self._encode(response, request.opaque)", "frame = self._encode(response, request.opaque + (work.commands > 1))", "transport/40"),
    Defect("protocol.session:Session._add_response", "work.send.append(frame)", "work.commands % 3 and work.send.append(frame)", "transport/40"),
    Defect("protocol.session:Session._add_response", "work.send.append(frame)", "work.send += [frame] * (1 + (response.code == 3))", "transport/40"),
    Defect("protocol.route_fast_path:RouteResponseTemplate.frame", 'b"%d" % opaque', """b'"%d"' % opaque""", "ns/206/1"),
    Defect("protocol.route_fast_path:RouteResponseTemplate.__init__", "code=0,", "code=0, version=0,", "ns/206/1"),
    Defect("protocol.route_fast_path:RouteResponseTemplate.__init__", "code=0,", 'code=0, remark="",', "ns/206/1"),
    # routes
    Defect("protocol.response:no_route", "ResponseCode.TOPIC_NOT_EXIST,", "1,", "ns/105/1"),
    Defect("protocol.response:no_route", 'f"No topic route info', 'f"No route', "ns/105/1"),
    Defect("protocol.handlers:get_route_info_by_topic", "no_route(topic) if body is None else", "", "ns/105/2"),
    Defect("protocol.route_fast_path:wants_standard_json", "version >= _STANDARD_JSON_SINCE", "version < _STANDARD_JSON_SINCE", "ns/105/5"),
    Defect("protocol.route_fast_path:wants_standard_json", "version >= _STANDARD_JSON_SINCE", "True", "ns/105/6"),
    Defect("protocol.route_fast_path:wants_standard_json", '.lower() == "true"', '.lower() == "no"', "ns/105/7"),
    Defect("protocol.views:_sort_map", "in entries.in_java_order()", "in reversed([*entries.in_java_order()])", "ns/105/14"),
    Defect("protocol.views:Views._route", "for group in groups\n", "for group in groups[:1]\n", "ns/105/12"),
    Defect("protocol.views:Views.member_group", "broker_addrs=addresses", "broker_addrs={}", "ns/901/1"),
    Defect("protocol.route_fast_path:zone_of", 'fields.get(ZONE_MODE, "").lower() == "true"', "False", "ns/zone/1"),
    Defect("protocol.views:Views._filter_servers", "if self._table.filter_servers:", "if False:", "ns/filter/1"),
    # registrations
    Defect("routes.topic_table:_Transitions.__missing__", "read_queue_nums=settings.read_queue_nums,", "read_queue_nums=settings.read_queue_nums // 2,", "ns/103/1"),
    Defect("routes.topic_table:_Transitions.__missing__", "topic_sys_flag=settings.topic_sys_flag,", "topic_sys_flag=0,", "ns/105/20"),
    Defect("routes.route_table:RouteTable._master_of", "(live.ha_address, master)", "(live.ha_address, None)", "ns/103/2"),
    Defect("routes.route_table:RouteTable.register", "registration.topic_count == 1", "False", "ns/103/4"),
    Defect("routes.route_table:RouteTable.register", " or previous.data_version != registration.data_version", "", "ns/103/6"),
    Defect("routes.route_table:RouteTable._take_address_from_other_ids", "del group.addresses[broker_id]", "pass", "ns/103/11"),
    Defect("protocol.register_broker:_registration", "crc = header.body_crc32 or 0", "crc = 0", "ns/103/100"),
    Defect("protocol.register_broker:_registration", "crc = header.body_crc32 or 0", "crc = header.body_crc32 and 77", "ns/103/222"),
    Defect("registration.reader:read_registered_topics", "body, compressed=compressed,", "body and body[1:], compressed=compressed,", "ns/103/150"),
    Defect("protocol.register_broker:_registration", "if request.version < 0:", "if request.version < 400:", "ns/103/180"),
    Defect("routes.route_table:RouteTable.register", "if delete_absent_topics and not registration.mappings:", "if len(registration.topics) == 1:", "ns/103/220"),
    Defect("routes.brokers:Registration.key", "self.cluster, self.address", '"", self.address', "ns/103/223"),
    Defect("routes.route_table:RouteTable._enter", "group.zone_name = registration.zone_name", "pass", "ns/zone/12"),
    Defect("routes.route_table:RouteTable._bind", "elif registration.filter_servers is not None:", "else:", "ns/filter/3"),
    Defect("routes.topic_table:TopicTable.map_statically", 'mappings_of_topic[info.bname or ""] = info', "pass", "ns/mapping/1"),
    Defect("routes.route_table:RouteTable._enter", "acting = registration.enable_acting_master is True", "acting = False", "ns/acting/5"),
    # brokers that leave
    Defect("routes.route_table:RouteTable.unregister", "self._leave([(key, broker_name)], Reason.UNREGISTERED, notify)", "[]", "ns/104/1"),
    Defect("routes.route_table:RouteTable.unregister", "[(key, broker_name)]", "[(k, name) for k, e in self.live.items() for name in e.names]", "ns/104/2"),
    Defect("routes.route_table:RouteTable.unregister", "key = (cluster, address)", "key = next((k for k, e in self.live.items() if broker_name in e.names), (cluster, address))", "ns/104/4"),
    Defect("routes.route_table:RouteTable.connection_lost", "self._leave(leaving, reason, notify)", "[]", "ns/close/1"),
    Defect("routes.route_table:RouteTable.connection_lost", "self._bound.get(connection_id, ())", "[*self.live]", "ns/close/7"),
    Defect("routes.route_table:RouteTable.connection_lost", "self._bound.get(connection_id, ())", "[*self.live]", "ns/close/8"),
    Defect("protocol.handlers:query_data_version", "registered is None or registered != requested", "True", "ns/322/1"),
    Defect("protocol.handlers:query_data_version", "None if registered is None else encode_body(registered)", "None", "ns/322/2"),
    Defect("protocol.handlers:broker_heartbeat", "return SUCCESS", "return DISABLED", "ns/904/1"),
    # topics and permissions
    Defect("protocol.handlers:wipe_write_perm_of_broker", "perm & ~Perm.WRITE", "perm", "ns/205/1"),
    Defect("protocol.handlers:wipe_write_perm_of_broker", "wipe_topic_count=count", "wipe_topic_count=0", "ns/205/2"),
    Defect("protocol.handlers:_change_perm", "state.table.change_perm(broker_name, perm)", "sum(state.table.change_perm(name, perm) for name in state.table.groups)", "ns/205/4"),
    Defect("protocol.handlers:add_write_perm_of_broker", "lambda _: int(Perm.READ | Perm.WRITE)", "lambda perm: perm", "ns/327/3"),
    Defect("routes.topic_table:TopicTable.delete", "self._place(topic, None)", "pass", "ns/216/1"),
    Defect("routes.route_table:RouteTable.delete_topic", "if not cluster:", "if True:", "ns/216/2"),
    Defect("routes.topic_table:TopicTable.register_route", "self._place(topic, layout)", "pass", "ns/217/1"),
    Defect("protocol.views:Views.all_topics", "topics.entries.in_java_order()", "()", "ns/206/1"),
    Defect("protocol.views:Views.all_topics", "topics.entries.in_java_order()", "[name for name in topics.entries.in_java_order() if name[0] != '%']", "ns/206/4"),
    Defect("routes.topic_table:_Application._apply_all", "zip(*topics, strict=True)", "zip(*((name.lower(), item) for name, item in topics), strict=True)", "ns/206/5"),
    Defect("protocol.views:Views.topics_of_cluster", "if topics[topic].queue_of(name) is not None", "", "ns/224/1"),
    Defect("protocol.views:Views.unit_topics", "TopicSysFlag.UNIT", "TopicSysFlag.UNIT_SUB", "ns/311/1"),
    Defect("protocol.views:Views.unit_sub_ununit_topics", " and not flag & TopicSysFlag.UNIT", "", "ns/313/1"),
    # key/value and configuration
    Defect("protocol.handlers:get_kv_config", "GetKVConfigResponseHeader(value=value)", "GetKVConfigResponseHeader(value=None)", "ns/100/1"),
    Defect("routes.kv_config:KVConfig._set", "[key] = value", ".setdefault(key, value)", "ns/100/3"),
    Defect("protocol.response:kv_table", "KVTable(table=table)", "KVTable(table={})", "ns/100/4"),
    Defect("protocol.handlers:put_kv_config", 'Response(ResponseCode.SYSTEM_ERROR, "namespace or key is null")', "SUCCESS", "ns/100/5"),
    Defect("routes.kv_config:KVConfig._set", "[key] = value", '[key] = (value or "").strip()', "ns/100/27"),
    Defect("routes.kv_config:KVConfig._set", "[key] = value", "[key.lower()] = value", "ns/100/30"),
    Defect("routes.kv_config:KVConfig._set", "[key] = value", '[key] = (value or "")[:32_767]', "ns/100/30"),
    Defect("protocol.handlers:get_kv_config", "ResponseCode.QUERY_NOT_FOUND, remark", "1, remark", "ns/101/1"),
    Defect("protocol.handlers:get_kv_config", "ResponseCode.QUERY_NOT_FOUND, remark", "ResponseCode.QUERY_NOT_FOUND, None", "ns/101/1"),
    Defect("routes.kv_config:KVConfig.delete", "value = items.pop(key)", "value = items[key]", "ns/102/1"),
    Defect("config.config:Config.text", "if not is_secret_name(key)", 'if key[:4] != "wait"', "ns/319/1"),
    Defect("protocol.handlers:update_namesrv_config", "state.configure(config)", "pass", "ns/318/7"),
)  # fmt: skip
BROKER = (
    # what is sent
    Defect("handlers.sends:_send", "message.properties[const.CLUSTER] = broker.config.cluster_name", "pass", "310/8"),
    Defect("handlers.sends:_send", '"transactionId": message.properties[const.UNIQ_KEY],', '"transactionId": "x",', "310/12"),
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
    Defect("handlers.sends:_store_batch", " or const.DELAY in batch.properties", "", "320/9"),
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
    Defect("tables.members:Locks.lock", "lock.client_id == client_id or", "True or", "41/2"),
    Defect("tables.members:Locks.unlock", " and lock.client_id == client_id", "", "42/2"),
    Defect("tables.members:Locks._is_free", "> self._expiry_ms", "> self._expiry_ms // 2", "41/8"),
    # delayed
    Defect("handlers.sends:send_back", "message.reconsume_times = times + 1", "pass", "36/1"),
    Defect("handlers.sends:send_back", "properties.setdefault(const.RETRY_TOPIC, message.topic)", "properties[const.RETRY_TOPIC] = message.topic", "36/5"),
    Defect("handlers.sends:send_back", "times >= max_retries", "times > max_retries", "36/6"),
    Defect("handlers.sends:send_back", "level < 0 or ", "", "36/7"),
    Defect("delayed.delays:postpone_by_level", "message.tag_code = now + delays[level - 1]", "message.tag_code = now", "delay/1"),
    Defect("delayed.delays:restore_message", "int(message.properties[REAL_QUEUE_ID])", "0", "delay/2"),
    Defect("delayed.delays:_deliver_one", "not _is_recalled(broker, message)", "False", "timer/1"),
    Defect("tables.waiting:Timers.recall", "self._recalled.add(key)", "pass", "370/3"),
    Defect("handlers.sends:_recall", "if handle.topic != topic:", "if False:", "370/4"),
    Defect("delayed.transactions:is_half", 'if properties.get(const.TRANSACTION_PREPARED, "").lower() != "true":', "if True:", "37/1"),
    Defect("delayed.transactions:_next_producer", "broker.members.producers_of(group).values()", "broker.members.producer(name) for name in ()", "39/1"),
    Defect("handlers.transactions:_find", "message.properties.get(const.PRODUCER_GROUP) != header.producer_group", "False", "37/13"),
    Defect("handlers.transactions:end_transaction", "message.sys_flag |= COMMIT", "pass", "37/5"),
    Defect("handlers.transactions:end_transaction", "if decision == COMMIT:", "if True:", "37/9"),
    Defect("handlers.sends:reply", "answer is not None and answer.code == ResponseCode.SUCCESS", "answer is not None", "325/4"),
    # pops
    Defect("handlers.pops.pop:_take_of_queue", "broker.offsets.commit(*group_queue, offset, now)", "pass", "200050/3"),
    Defect("handlers.pops.pop:_note", "{','.join(map(str, offsets))}", "{start}", "200050/2"),
    Defect("delayed.pops:_store_in_retry_topic", "message.reconsume_times += 1", "pass", "return/2"),
    Defect("delayed.pops:show", "timer = broker.pops.take(message)", "timer = None", "200051/2"),
    Defect("tables.pops:PopOrders.is_blocked", "return now < pop.visible_time()", "return False", "order/1"),
    Defect("tables.pops:PopOrders.is_blocked", "(attempt_id and attempt_id == pop.attempt_id)", "False", "order/4"),
    # administration
    Defect("storage.store:Store.delete_topic", "self._queues.pop(topic, {})", "self._queues.get(topic, {})", "215/10"),
    Defect("tables.groups:Groups.delete", "self._groups.pop(name, None)", "self._groups.get(name)", "207/1"),
    Defect("handlers.admin.figures:_progress", "queue.store_time(offset - 1)", "queue.store_time(offset)", "208/2"),
    Defect("state.statistics:Statistics.note_put", "self.put.total += 1", "pass", "28/2"),
    Defect("handlers.assignments:_queues_of", "strategy.allocate(client_id, queues, clients) if queues else ()", "queues", "400/1"),
    Defect("protocol.session:Session._handle", " and not request.flag & _ONEWAY", "", "310/16"),
    Defect("protocol.session:Session._respond", "ResponseCode.REQUEST_CODE_NOT_SUPPORTED", "1", "header/2"),
)  # fmt: skip
