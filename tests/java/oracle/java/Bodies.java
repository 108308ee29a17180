import java.lang.reflect.Array;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import org.apache.rocketmq.remoting.protocol.RemotingSerializable;

/**
 * JSON bodies.
 *
 * body_decode: class, text or hex, list (a top-level array), standard, reencode -> value, hex of the text written again.
 * body_build: class, value, standard -> hex, value.
 * body_random: class, seed, level (0 defaults, 1 ordinary, 2 nasty, 3 with nulls), timeless, standard -> hex, value; decoded is what
 *     the same release reads from its own text, or refused.
 * "standard" is the form of the name server's acceptStandardJsonOnly.
 */
final class Bodies {
    private Bodies() {
    }

    static void register(Map<String, Oracle.Operation> operations) {
        operations.put("body_decode", Bodies::decode);
        operations.put("body_build", (request, answer) -> {
            Object body = Values.build(request.get("value"), Classes.named(request.text("class")));
            answer.put("hex", Request.hex(encode(body, request)));
            answer.put("value", Values.show(body));
        });
        operations.put("body_random", Bodies::random);
    }

    private static void decode(Request request, Map<String, Object> answer) throws Exception {
        Class<?> type = Classes.named(request.text("class"));
        Object body;
        if (request.flag("list", false)) {
            Method decodeList = RemotingSerializable.class.getMethod("decodeList", byte[].class, Class.class);
            body = decodeList.invoke(null, request.document(), type);
        } else {
            body = RemotingSerializable.decode(request.document(), type);
        }
        answer.put("value", Values.show(body));
        if (body != null && request.flag("reencode", false)) {
            answer.put("hex", Request.hex(encode(body, request)));
        }
    }

    private static void random(Request request, Map<String, Object> answer) throws Exception {
        Class<?> type = Classes.named(request.text("class"));
        Object body = Chance.of(request).instance(type);
        byte[] text = encode(body, request);
        answer.put("hex", Request.hex(text));
        answer.put("value", Values.show(body));
        try {
            answer.put("decoded", Values.show(RemotingSerializable.decode(text, type)));
        } catch (Throwable failure) {
            answer.put("refused", Oracle.refusal(failure));
        }
    }

    static byte[] encode(Object body, Request request) throws Exception {
        if (request.flag("standard", false)) {
            return standard(body);
        }
        return body instanceof RemotingSerializable ? ((RemotingSerializable) body).encode() : RemotingSerializable.encode(body);
    }

    private static byte[] standard(Object body) throws Exception {
        return Properties.FASTJSON2
            ? encode(body, "com.alibaba.fastjson2.JSONWriter$Feature", List.of("BrowserCompatible", "MapSortField"))
            : encode(body, "com.alibaba.fastjson.serializer.SerializerFeature",
                List.of("BrowserCompatible", "QuoteFieldNames", "SkipTransientField", "MapSortField"));
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private static byte[] encode(Object body, String featureClass, List<String> names) throws Exception {
        Class type = Class.forName(featureClass);
        Object features = Array.newInstance(type, names.size());
        for (int i = 0; i < names.size(); i++) {
            Array.set(features, i, Enum.valueOf(type, names.get(i)));
        }
        return (byte[]) RemotingSerializable.class.getMethod("encode", features.getClass()).invoke(body, features);
    }
}
