import com.alibaba.fastjson2.JSON;
import com.alibaba.fastjson2.JSONWriter;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import org.apache.rocketmq.remoting.protocol.RemotingCommand;
import org.apache.rocketmq.remoting.protocol.RemotingSerializable;
import org.apache.rocketmq.remoting.protocol.body.RegisterBrokerBody;

/**
 * Says what 5.5.0's own classes read from a frame; that is where the expectations of the golden packets come from.
 *
 * A request is one line "HEX TAB CLASS": a whole frame, and the full name of its body's class or nothing.  The answer
 * is one line of strict JSON; member body_value is the body as that class holds it, with every map key as a string.
 */
public class Frames {
    public static void main(String[] ignored) throws Exception {
        PrintStream answers = System.out;
        System.setOut(System.err);
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            String[] words = line.split("\t", -1);
            Map<String, Object> facts;
            try {
                facts = describe(HexFormat.of().parseHex(words[0]), words[1]);
            } catch (Throwable failure) {
                facts = Map.of("error", failure.toString());
            }
            answers.println(JSON.toJSONString(facts, JSONWriter.Feature.WriteNonStringKeyAsString,
                JSONWriter.Feature.WriteNulls, JSONWriter.Feature.MapSortField));
            answers.flush();
        }
    }

    private static Map<String, Object> describe(byte[] frame, String bodyClass) throws Exception {
        RemotingCommand command = RemotingCommand.decode(ByteBuffer.wrap(frame, 4, frame.length - 4).slice());
        Map<String, Object> facts = new LinkedHashMap<>();
        facts.put("code", command.getCode());
        facts.put("language", command.getLanguage() == null ? null : command.getLanguage().name());
        facts.put("version", command.getVersion());
        facts.put("opaque", command.getOpaque());
        facts.put("flag", command.getFlag());
        facts.put("remark", command.getRemark());
        facts.put("ext_fields", command.getExtFields() == null ? null : new TreeMap<>(command.getExtFields()));
        facts.put("serialize_type", command.getSerializeTypeCurrentRPC().name());
        facts.put("body_length", command.getBody() == null ? 0 : command.getBody().length);
        if (command.getBody() != null && !bodyClass.isEmpty()) {
            facts.put("body_class", bodyClass.substring(bodyClass.lastIndexOf('.') + 1));
            facts.put("body_value", body(command, Class.forName(bodyClass)));
        }
        return facts;
    }

    private static Object body(RemotingCommand command, Class<?> bodyClass) throws Exception {
        if (bodyClass == RegisterBrokerBody.class) {
            boolean compressed = Boolean.parseBoolean(command.getExtFields().get("compressed"));
            return RegisterBrokerBody.decode(command.getBody(), compressed,
                org.apache.rocketmq.common.MQVersion.value2Version(command.getVersion()));
        }
        return RemotingSerializable.decode(command.getBody(), bodyClass);
    }
}
