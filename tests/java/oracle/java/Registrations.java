import java.io.ByteArrayInputStream;
import java.lang.reflect.Method;
import java.util.Map;
import java.util.zip.InflaterInputStream;
import org.apache.rocketmq.common.MQVersion;
import org.apache.rocketmq.common.TopicConfig;

/**
 * Bodies of broker registrations and the text forms inside them.
 *
 * register_encode: value (RegisterBrokerBody), compressed -> hex, crc, plain (hex of what was compressed).
 * register_random: seed, level, timeless, compressed -> value besides.
 * register_decode: hex, compressed, version -> value.
 * topic_encode: value -> text; topic_decode: text -> accepted, value.
 */
final class Registrations {
    private Registrations() {
    }

    static void register(Map<String, Oracle.Operation> operations) {
        operations.put("register_encode", (request, answer) ->
            encode(Values.build(request.get("value"), type()), request, answer));
        operations.put("register_random", (request, answer) -> {
            Object body = Chance.of(request).instance(type());
            answer.put("value", Values.show(body));
            encode(body, request, answer);
        });
        operations.put("register_decode", (request, answer) -> answer.put("value", Values.show(decode(request))));
        operations.put("topic_encode", (request, answer) ->
            answer.put("text", ((TopicConfig) Values.build(request.get("value"), TopicConfig.class)).encode()));
        operations.put("topic_decode", (request, answer) -> {
            TopicConfig topic = new TopicConfig();
            answer.put("accepted", topic.decode(request.text("text")));
            answer.put("value", Values.show(topic));
        });
    }

    private static Class<?> type() throws ClassNotFoundException {
        return Classes.named("RegisterBrokerBody");
    }

    private static void encode(Object body, Request request, Map<String, Object> answer) throws Exception {
        boolean compressed = request.flag("compressed", true);
        byte[] data = (byte[]) type().getMethod("encode", boolean.class).invoke(body, compressed);
        answer.put("hex", Request.hex(data));
        answer.put("crc", org.apache.rocketmq.common.UtilAll.crc32(data));
        if (compressed) {
            answer.put("plain", Request.hex(new InflaterInputStream(new ByteArrayInputStream(data)).readAllBytes()));
        }
    }

    static Object decode(Request request) throws Exception {
        byte[] data = request.bytes("hex");
        boolean compressed = request.flag("compressed", true);
        try {
            Method decode = type().getMethod("decode", byte[].class, boolean.class, MQVersion.Version.class);
            return decode.invoke(null, data, compressed, MQVersion.value2Version(request.number("version", MQVersion.CURRENT_VERSION)));
        } catch (NoSuchMethodException older) { // 4.9 does not look at the version
            return type().getMethod("decode", byte[].class, boolean.class).invoke(null, data, compressed);
        }
    }
}
