// In-process loops over RocketMQ's own codec, for bench/codec.py: one command a line on stdin, nanoseconds per call on stdout.
//   frame HEX | binary HEX | register HEX | stored HEX | build      remembers the input
//   run NAME COUNT                                         times COUNT calls and prints ns per call
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import org.apache.rocketmq.common.MQVersion;
import org.apache.rocketmq.common.message.MessageDecoder;
import org.apache.rocketmq.remoting.protocol.RemotingCommand;
import org.apache.rocketmq.remoting.protocol.body.RegisterBrokerBody;

public class CodecBench {
    static Object sink;
    static final Map<String, byte[]> INPUT = new HashMap<>();

    static Object call(String name) throws Exception {
        switch (name) {
            case "frame":
            case "binary": {
                ByteBuf buffer = Unpooled.wrappedBuffer(INPUT.get(name));
                buffer.skipBytes(4);
                return RemotingCommand.decode(buffer);
            }
            case "build": {
                RemotingCommand command = RemotingCommand.createRequestCommand(105, null);
                HashMap<String, String> fields = new HashMap<>();
                fields.put("topic", "TopicTest");
                command.setExtFields(fields);
                return command.encode();
            }
            case "stored":
                return MessageDecoder.decode(ByteBuffer.wrap(INPUT.get("stored")), true, false);
            case "register":
                return RegisterBrokerBody.decode(INPUT.get("register"), true, MQVersion.value2Version(513));
            default:
                throw new IllegalArgumentException(name);
        }
    }

    public static void main(String[] arguments) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null; ) {
            String[] words = line.split(" ");
            if (words[0].equals("run")) {
                int count = Integer.parseInt(words[2]);
                long start = System.nanoTime();
                for (int i = 0; i < count; i++) sink = call(words[1]);
                System.out.println((double) (System.nanoTime() - start) / count);
            } else {
                INPUT.put(words[0], HexFormat.of().parseHex(words.length > 1 ? words[1] : ""));
                System.out.println("ok");
            }
            System.out.flush();
        }
    }
}
