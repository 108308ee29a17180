import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.lang.reflect.Field;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.rocketmq.common.MQVersion;
import org.apache.rocketmq.remoting.CommandCustomHeader;
import org.apache.rocketmq.remoting.netty.NettyEncoder;
import org.apache.rocketmq.remoting.protocol.LanguageCode;
import org.apache.rocketmq.remoting.protocol.RemotingCommand;
import org.apache.rocketmq.remoting.protocol.SerializeType;

/**
 * Commands and their frames.
 *
 * encode_frame: code, opaque, version, flag, remark, language, serialize, body (hex); ext (raw fields, null values too)
 *     or header (class) with fields; -> hex, the frame as NettyEncoder writes it.
 * decode_frame: hex (whole frame), header (class), fast -> command, unread; through RemotingCommand.decode.
 */
final class Commands {
    private static final NettyEncoder ENCODER = new NettyEncoder();

    private Commands() {
    }

    static void register(Map<String, Oracle.Operation> operations) {
        operations.put("encode_frame", (request, answer) -> answer.put("hex", Request.hex(encode(command(request)))));
        operations.put("decode_frame", Commands::decodeFrame);
    }

    static byte[] encode(RemotingCommand command) throws Exception {
        ByteBuf out = Unpooled.buffer(256);
        ENCODER.encode(null, command, out);
        byte[] frame = new byte[out.readableBytes()];
        out.readBytes(frame);
        return frame;
    }

    static RemotingCommand command(Request request) throws Exception {
        RemotingCommand command = RemotingCommand.createRequestCommand(request.number("code", 0), header(request));
        command.setOpaque(request.number("opaque", 0));
        command.setVersion(request.number("version", MQVersion.CURRENT_VERSION));
        command.setFlag(request.number("flag", 0));
        command.setRemark(request.text("remark"));
        if (request.members.containsKey("language")) {
            command.setLanguage(request.has("language") ? LanguageCode.valueOf(request.text("language")) : null);
        }
        command.setSerializeTypeCurrentRPC(SerializeType.valueOf(request.has("serialize") ? request.text("serialize") : "JSON"));
        if (request.has("ext")) {
            HashMap<String, String> fields = new HashMap<>();
            request.map("ext").forEach((name, value) -> fields.put(name, (String) value));
            command.setExtFields(fields);
        }
        command.setBody(request.bytes("body"));
        return command;
    }

    private static CommandCustomHeader header(Request request) throws ReflectiveOperationException {
        if (!request.has("header")) {
            return null;
        }
        Class<?> type = Classes.named(request.text("header"));
        Object header = Types.instance(type);
        if (request.has("fields")) {
            Map<String, Field> members = Values.members(type);
            for (Map.Entry<String, Object> entry : request.map("fields").entrySet()) {
                Field field = members.get(entry.getKey());
                if (field == null) {
                    throw new NoSuchFieldException(type.getSimpleName() + "." + entry.getKey());
                }
                if (entry.getValue() != null || !field.getType().isPrimitive()) {
                    field.set(header, Values.build(entry.getValue(), field.getGenericType()));
                }
            }
        }
        return (CommandCustomHeader) header;
    }

    private static void decodeFrame(Request request, Map<String, Object> answer) throws Exception {
        ByteBuf frame = Unpooled.wrappedBuffer(request.bytes("hex"));
        frame.skipBytes(4);
        RemotingCommand command = RemotingCommand.decode(frame);
        answer.put("command", command == null ? null : show(command, request));
        answer.put("unread", frame.readableBytes());
    }

    private static Map<String, Object> show(RemotingCommand command, Request request) throws Exception {
        Map<String, Object> shown = new LinkedHashMap<>();
        shown.put("code", command.getCode());
        shown.put("language", command.getLanguage() == null ? null : command.getLanguage().name());
        shown.put("version", command.getVersion());
        shown.put("opaque", command.getOpaque());
        shown.put("flag", command.getFlag());
        shown.put("remark", command.getRemark());
        shown.put("serialize", command.getSerializeTypeCurrentRPC().name());
        shown.put("ext", showFields(command.getExtFields(), shown));
        shown.put("body", Request.hex(command.getBody()));
        if (request.has("header")) {
            shown.put("header", showHeader(command, request));
        }
        return shown;
    }

    /** The text map, a null key as "@null"; it may hold what its type forbids: "odd" then says what. */
    private static Map<String, Object> showFields(Map<?, ?> fields, Map<String, Object> shown) {
        if (fields == null) {
            return null;
        }
        Map<String, Object> texts = new LinkedHashMap<>();
        for (Map.Entry<?, ?> entry : fields.entrySet()) {
            Object value = entry.getValue();
            if (value != null && !(value instanceof String)) {
                shown.put("odd", value.getClass().getName());
            }
            texts.put(entry.getKey() == null ? "@null" : String.valueOf(entry.getKey()), value == null ? null : value.toString());
        }
        return texts;
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private static Object showHeader(RemotingCommand command, Request request) {
        try {
            Class type = Classes.named(request.text("header"));
            Object header = command.decodeCommandCustomHeader(type, request.flag("fast", true));
            return header == null ? null : Values.showFields(header);
        } catch (Throwable failure) {
            return Map.of("@error", Oracle.refusal(failure));
        }
    }
}
