"""The namespace and address of a managed cloud's endpoint are those that Java's ``ClientConfig`` reads from it."""

from random import Random

from rocketwire.client import ClientConfig
from rocketwire.client.addresses import split_address
from rocketwire.errors import IllegalAddressError
from tests.java.oracle.vectors.policies import answers

SCHEMES = ("", "", "http://", "https://", "tcp://", "HTTP://", "http:/", "//", "ü://", " http://")
PREFIXES = ("MQ_INST_",) * 6 + ("mq_inst_", "MQ_INST", "MQ_INST__", "XMQ_INST_", "")
WORDS = ("1234567890", "BXabc", "a", "", "_", "a_b", "ä", "a-b", "X9", "1.2")
HOSTS = (".cn-hangzhou.mq.aliyuncs.com", ".mq", ".", "", ".a/b", ".10.0.0.1", "-vpc.mq.example")
PORTS = (":8080", ":80", ":80", "", ":0", ":port", ":80/", ":80;b:9876", ":80;MQ_INST_2_b.y:80")


def endpoints(count: int) -> list[str]:
    chance = Random(20)
    parts = (SCHEMES, PREFIXES, WORDS, ("_", "_", "_", "-", ""), WORDS, HOSTS, PORTS)
    return ["".join(map(chance.choice, parts)) for _ in range(count)]


def is_usable(addresses: str) -> bool:
    try:
        return all(split_address(address) for address in addresses.split(";"))
    except IllegalAddressError:
        return False


def test_a_thousand_endpoints_mean_the_same_as_in_java() -> None:
    texts = endpoints(1000)
    replies = answers([{"op": "endpoint", "text": text} for text in texts])

    unlike: list[object] = []
    namespaces, addresses = set[str](), 0
    for text, answer in zip(texts, replies, strict=True):
        config = ClientConfig(namesrv_addr=text)
        if "error" in answer:  # Java's client cannot be opened: a slash follows the instance
            assert answer["error"] == "StringIndexOutOfBoundsException"
            assert "/" in text.rpartition("://")[2]
            continue
        java = answer["value"][0]
        namespace = config.with_namespace({}).namespace
        namespaces.add(namespace)
        if namespace != (java["namespace"] or ""):
            unlike.append((text, java, namespace))
        if is_usable(java["address"]):
            addresses += 1
            if (ours := config.name_servers({})) != tuple(java["address"].split(";")):
                unlike.append((text, java, ours))
    assert unlike == []
    assert len(namespaces) > 20
    assert addresses > 200
