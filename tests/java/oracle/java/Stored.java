import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.net.Inet6Address;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.rocketmq.common.compression.CompressionType;
import org.apache.rocketmq.common.compression.CompressorFactory;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageDecoder;
import org.apache.rocketmq.common.message.MessageExt;

/**
 * Stored messages, batch bodies, compressed bodies.
 *
 * msg_encode: value (members of MessageExt, body in hex), compress -> hex.
 * msg_decode: hex, mode "all" (as a client reads a pull answer: decodesBatch), "list" (decodes) or "one" (decode, null
 *     when refused), read_body, decompress, client, check_crc, unwrap (inner batches) -> messages, position.
 * batch_encode: messages -> hex; batch_decode: hex -> messages.
 * compress / decompress: type LZ4, ZSTD or ZLIB, hex, level -> hex.
 */
final class Stored {
    private static final int INNER_BATCH = 0xc0; // to be unwrapped, and an inner batch

    private Stored() {
    }

    static void register(Map<String, Oracle.Operation> operations) {
        operations.put("msg_encode", (request, answer) ->
            answer.put("hex", Request.hex(MessageDecoder.encode(stored(Request.of(request.get("value"))), request.flag("compress", false)))));
        operations.put("msg_decode", Stored::decode);
        operations.put("batch_encode", (request, answer) -> {
            List<Message> messages = new ArrayList<>();
            for (Object value : request.list("messages")) {
                messages.add(fill(new Message(), Request.of(value)));
            }
            answer.put("hex", Request.hex(MessageDecoder.encodeMessages(messages)));
        });
        operations.put("batch_decode", (request, answer) ->
            answer.put("messages", show(MessageDecoder.decodeMessages(ByteBuffer.wrap(request.bytes("hex"))))));
        operations.put("compress", (request, answer) -> answer.put("hex", Request.hex(
            CompressorFactory.getCompressor(type(request)).compress(request.bytes("hex"), request.number("level", 5)))));
        operations.put("decompress", (request, answer) -> answer.put("hex", Request.hex(
            CompressorFactory.getCompressor(type(request)).decompress(request.bytes("hex")))));
    }

    private static CompressionType type(Request request) {
        return CompressionType.valueOf(request.text("type"));
    }

    private static Field field(Class<?> type, String name) throws ReflectiveOperationException {
        Field field = type.getDeclaredField(name);
        field.setAccessible(true);
        return field;
    }

    private static Message fill(Message message, Request value) throws ReflectiveOperationException {
        message.setTopic(value.text("topic"));
        message.setFlag(value.number("flag", 0));
        message.setBody(value.bytes("body"));
        if (value.has("properties")) { // past putProperty, which refuses what a peer may send
            Map<String, String> properties = new LinkedHashMap<>();
            value.map("properties").forEach((name, text) -> properties.put(name, (String) text));
            field(Message.class, "properties").set(message, properties);
        }
        return message;
    }

    private static MessageExt stored(Request value) throws ReflectiveOperationException {
        MessageExt message = new MessageExt();
        fill(message, value);
        message.setQueueId(value.number("queueId", 0));
        message.setQueueOffset(value.wide("queueOffset", 0));
        message.setCommitLogOffset(value.wide("commitLogOffset", 0));
        message.setSysFlag(value.number("sysFlag", 0));
        message.setBornTimestamp(value.wide("bornTimestamp", 0));
        message.setStoreTimestamp(value.wide("storeTimestamp", 0));
        message.setBornHost(Values.address(value.text("bornHost")));
        message.setStoreHost(Values.address(value.text("storeHost")));
        if (Values.address(value.text("bornHost")).getAddress() instanceof Inet6Address) {
            message.setBornHostV6Flag();
        }
        if (Values.address(value.text("storeHost")).getAddress() instanceof Inet6Address) {
            message.setStoreHostAddressV6Flag();
        }
        message.setReconsumeTimes(value.number("reconsumeTimes", 0));
        message.setPreparedTransactionOffset(value.wide("preparedTransactionOffset", 0));
        message.setBodyCRC(value.number("bodyCRC", 0));
        return message;
    }

    private static List<Object> show(List<? extends Message> messages) throws ReflectiveOperationException {
        List<Object> shown = new ArrayList<>();
        for (Message message : messages) {
            shown.add(message == null ? null : show(message));
        }
        return shown;
    }

    private static Map<String, Object> show(Message message) throws ReflectiveOperationException {
        Map<String, Object> shown = new LinkedHashMap<>();
        shown.put("topic", message.getTopic());
        shown.put("flag", message.getFlag());
        shown.put("body", Request.hex(message.getBody()));
        shown.put("properties", Values.show(message.getProperties()));
        if (message instanceof MessageExt) {
            MessageExt stored = (MessageExt) message;
            shown.put("queueId", stored.getQueueId());
            shown.put("storeSize", stored.getStoreSize());
            shown.put("queueOffset", stored.getQueueOffset());
            shown.put("commitLogOffset", stored.getCommitLogOffset());
            shown.put("sysFlag", stored.getSysFlag());
            shown.put("bornTimestamp", stored.getBornTimestamp());
            shown.put("storeTimestamp", stored.getStoreTimestamp());
            shown.put("bornHost", Values.show(stored.getBornHost()));
            shown.put("storeHost", Values.show(stored.getStoreHost()));
            shown.put("reconsumeTimes", stored.getReconsumeTimes());
            shown.put("preparedTransactionOffset", stored.getPreparedTransactionOffset());
            shown.put("bodyCRC", stored.getBodyCRC());
            shown.put("msgId", stored.getMsgId());
            shown.put("offsetMsgId", field(MessageExt.class, "msgId").get(stored));
        }
        return shown;
    }

    private static void decode(Request request, Map<String, Object> answer) throws Exception {
        ByteBuffer data = ByteBuffer.wrap(request.bytes("hex"));
        boolean body = request.flag("read_body", true);
        boolean inflate = request.flag("decompress", true);
        boolean client = request.flag("client", true);
        List<MessageExt> messages = new ArrayList<>();
        switch (request.has("mode") ? request.text("mode") : "all") {
            case "one":
                messages.add(one(data, body, inflate, client, request.flag("check_crc", false)));
                break;
            case "list":
                messages.addAll(MessageDecoder.decodes(data, body));
                break;
            default:
                messages.addAll(all(data, body, inflate, client));
        }
        answer.put("messages", show(request.flag("unwrap", false) ? unwrapped(messages) : messages));
        answer.put("position", data.position());
    }

    /** As a client does with what it has pulled: an inner batch becomes its messages. */
    private static List<MessageExt> unwrapped(List<MessageExt> messages) throws Exception {
        Method unwrap = MessageDecoder.class.getMethod("decodeMessage", MessageExt.class, List.class); // 5.x alone
        List<MessageExt> found = new ArrayList<>();
        for (MessageExt message : messages) {
            if ((message.getSysFlag() & INNER_BATCH) == INNER_BATCH) {
                unwrap.invoke(null, message, found);
            } else {
                found.add(message);
            }
        }
        return found;
    }

    private static MessageExt one(ByteBuffer data, boolean body, boolean inflate, boolean client, boolean crc) throws Exception {
        if (!crc) {
            return MessageDecoder.decode(data, body, inflate, client);
        }
        Class<?> flag = boolean.class; // 5.x alone checks
        Method decode = MessageDecoder.class.getMethod("decode", ByteBuffer.class, flag, flag, flag, flag, flag);
        return (MessageExt) decode.invoke(null, data, body, inflate, client, false, true);
    }

    @SuppressWarnings("unchecked")
    private static List<MessageExt> all(ByteBuffer data, boolean body, boolean inflate, boolean client) throws Exception {
        Class<?> flag = boolean.class; // 4.9 has no inner batches
        Method decode = MessageDecoder.class.getMethod("decodesBatch", ByteBuffer.class, flag, flag, flag);
        return (List<MessageExt>) decode.invoke(null, data, body, inflate, client);
    }
}
