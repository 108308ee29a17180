import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.rocketmq.common.MQVersion;
import org.apache.rocketmq.common.UtilAll;
import org.apache.rocketmq.common.message.MessageClientIDSetter;
import org.apache.rocketmq.common.message.MessageDecoder;
import org.apache.rocketmq.common.message.MessageId;

/**
 * Small text forms: properties, message ids, checksums, versions.
 *
 * props_encode: map -> text; props_decode: text -> map.
 * msgid_create: host, port, offset -> msgid; msgid_decode: msgid -> host, port, offset.
 * uniqid_create: -> id; uniqid_decode: id -> ip, pid.
 * crc32: hex -> crc; version: value -> current, name, description.
 */
final class Texts {
    private Texts() {
    }

    static void register(Map<String, Oracle.Operation> operations) {
        operations.put("props_encode", (request, answer) -> {
            Map<String, String> map = new LinkedHashMap<>();
            request.map("map").forEach((name, value) -> map.put(name, (String) value));
            answer.put("text", MessageDecoder.messageProperties2String(map));
        });
        operations.put("props_decode", (request, answer) ->
            answer.put("map", Values.show(MessageDecoder.string2messageProperties(request.text("text")))));
        operations.put("msgid_create", (request, answer) -> {
            InetAddress host = InetAddress.getByName(request.text("host"));
            InetSocketAddress address = new InetSocketAddress(host, request.number("port", 0));
            answer.put("msgid", MessageDecoder.createMessageId(address, request.wide("offset", 0)));
        });
        operations.put("msgid_decode", (request, answer) -> {
            MessageId id = MessageDecoder.decodeMessageId(request.text("msgid"));
            InetSocketAddress address = (InetSocketAddress) id.getAddress();
            answer.put("host", address.getAddress().getHostAddress());
            answer.put("port", address.getPort());
            answer.put("offset", id.getOffset());
        });
        operations.put("uniqid_create", (request, answer) -> answer.put("id", MessageClientIDSetter.createUniqID()));
        operations.put("uniqid_decode", (request, answer) -> {
            answer.put("ip", Request.hex(MessageClientIDSetter.getIPFromID(request.text("id"))));
            answer.put("pid", MessageClientIDSetter.getPidFromID(request.text("id")));
        });
        operations.put("crc32", (request, answer) -> answer.put("crc", UtilAll.crc32(request.bytes("hex"))));
        operations.put("version", (request, answer) -> {
            int value = request.number("value", MQVersion.CURRENT_VERSION);
            answer.put("current", MQVersion.CURRENT_VERSION);
            answer.put("name", MQVersion.value2Version(value).name());
            answer.put("description", MQVersion.getVersionDesc(value));
        });
    }
}
