"""All commands: the ``COMMANDS`` of each module in ``rocketwire_tools.admin.commands``."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Final

from rocketwire_tools.admin import commands

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocketwire_tools.cli.command import Command


EXAMPLES: Final = {
    "addWritePerm": "-b broker-a -n ns1:9876",
    "brokerStatus": "-c DefaultCluster -n ns1:9876",
    "cloneGroupOffset": "-t orders -s billing -d billing-new -n ns1:9876",
    "clusterList": "-n ns1:9876 -o json",
    "consumerProgress": "-g billing -s true -n ns1:9876",
    "consumerStatus": "-g billing -s -n ns1:9876",
    "consumeMessage": "-t orders -b broker-a -i 0 -o 100 -c 10 -n ns1:9876",
    "consumerConnection": "-g billing -n ns1:9876",
    "createAcl": "-b broker1:10911 -s User:anna -r Topic:orders -a Pub,Sub -d Allow -n ns1:9876",
    "createUser": "-c DefaultCluster -u anna -p secret -t Normal -n ns1:9876",
    "deleteKvConfig": "-s ORDER_TOPIC_CONFIG -k orders -n ns1:9876",
    "deleteSubGroup": "-c DefaultCluster -g billing -r true -n ns1:9876",
    "deleteTopic": "-t orders -c DefaultCluster -n ns1:9876",
    "doctor": "-q -n 'ns1:9876;ns2:9876'",
    "exportMetadata": "-c DefaultCluster -n ns1:9876",
    "getBrokerConfig": "-b broker1:10911 -k flushDiskType -n ns1:9876",
    "getConsumerConfig": "-g billing -n ns1:9876",
    "haStatus": "-c DefaultCluster -n ns1:9876",
    "printMsg": "-t orders -s 'new || paid' -b '2h ago' -n ns1:9876",
    "printMsgByQueue": "-t orders -a broker-a -i 0 -n ns1:9876",
    "producerConnection": "-t orders -g shop -n ns1:9876",
    "queryMsgByKey": "-t orders -k order-4711 -n ns1:9876",
    "queryMsgById": "-t orders -i 7F00000100002A9F00000000000000D0 -n ns1:9876",
    "queryMsgByOffset": "-t orders -b broker-a -i 0 -o 100 -n ns1:9876",
    "queryMsgByUniqueKey": "-t orders -i 7F00000173CBA5E0BD3D79480FA40001 -n ns1:9876",
    "queryMsgTraceById": "-i 7F00000173CBA5E0BD3D79480FA40001 -n ns1:9876",
    "remappingStaticTopic": "-t orders -b broker-b -n ns1:9876",
    "resetOffsetByTime": "-g billing -t orders -s 2026-01-31T12:00:00Z -n ns1:9876",
    "sendMessage": "-t orders -p 'a body' -k order-4711 -c new -n ns1:9876",
    "setConsumeMode": "-c DefaultCluster -t orders -g billing -m POP -n ns1:9876",
    "skipAccumulatedMessage": "-g billing -t orders -n ns1:9876",
    "topicList": "-c -n ns1:9876",
    "topicRoute": "-t orders -l -n ns1:9876",
    "topicStatus": "-t orders -n ns1:9876",
    "updateAcl": "-b broker1:10911 -s User:anna -r Topic:orders -a Sub -d Deny -n ns1:9876",
    "updateBrokerConfig": "-c DefaultCluster -k slaveReadEnable -v true -n ns1:9876",
    "updateKvConfig": "-s ORDER_TOPIC_CONFIG -k orders -v broker-a:4 -n ns1:9876",
    "updateNamesrvConfig": "-k deleteTopicWithBrokerRegistration -v true -n ns1:9876",
    "updateOrderConf": "-t orders -m put -v 'broker-a:4;broker-b:4' -n ns1:9876",
    "updateStaticTopic": "-t orders -qn 8 -c DefaultCluster -n ns1:9876",
    "updateSubGroup": "-c DefaultCluster -g billing -r 3 -n ns1:9876",
    "updateTopic": "-c DefaultCluster -t orders -r 8 -w 8 -a +message.type=FIFO -n ns1:9876",
    "updateTopicPerm": "-c DefaultCluster -t orders -p 4 -n ns1:9876",
    "wipeWritePerm": "-b broker-a -n ns1:9876",
}
"""Shell arguments by command name."""


def with_example(program: str, name: str, epilog: str | None) -> str | None:
    arguments = EXAMPLES.get(name)
    if arguments is None:
        return epilog
    parts = [epilog.rstrip("\n")] if epilog else []
    return "\n\n".join([*parts, f"example:\n  {program} {name} {arguments}\n"])


def all_commands() -> tuple[Command, ...]:
    """All commands, sorted by name; raises ``ValueError`` if two have the same name."""
    by_name: dict[str, Command] = {}
    for module in iter_modules(commands.__path__, f"{commands.__name__}."):
        of_module: Sequence[Command] = import_module(module.name).COMMANDS
        for command in of_module:
            if command.name in by_name:
                raise ValueError(f"two commands are called {command.name}")
            by_name[command.name] = command
    return tuple(by_name[name] for name in sorted(by_name, key=str.lower))
