import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.ByteBuffer;
import java.util.Map;
import org.apache.rocketmq.common.message.MessageDecoder;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.remoting.protocol.RemotingCommand;

/**
 * How long Java takes, measured inside the process.
 *
 * time: what "decode_frame" (hex), "encode_frame" (hex of a frame that is decoded first), "decode_stored" (hex),
 *     "encode_stored" (hex of a stored message) or "decode_register" (hex, compressed, version); rounds, warm_up
 *     -> nanoseconds of one round.
 */
final class Clock {
    private static volatile int used; // keeps the work from being optimised away

    private Clock() {
    }

    private interface Work {
        int run() throws Exception;
    }

    static void register(Map<String, Oracle.Operation> operations) {
        operations.put("time", (request, answer) -> {
            Work work = work(request);
            repeat(work, request.number("warm_up", 20_000));
            int rounds = request.number("rounds", 20_000);
            long start = System.nanoTime();
            repeat(work, rounds);
            answer.put("nanoseconds", (double) (System.nanoTime() - start) / rounds);
        });
    }

    private static void repeat(Work work, int rounds) throws Exception {
        int sum = 0;
        for (int i = 0; i < rounds; i++) {
            sum += work.run();
        }
        used = sum;
    }

    private static RemotingCommand decode(byte[] frame) throws Exception {
        ByteBuf data = Unpooled.wrappedBuffer(frame);
        data.skipBytes(4);
        return RemotingCommand.decode(data);
    }

    private static Work work(Request request) throws Exception {
        byte[] data = request.bytes("hex");
        switch (request.text("what")) {
            case "decode_frame":
                return () -> decode(data).getCode();
            case "encode_frame":
                RemotingCommand command = decode(data);
                return () -> Commands.encode(command).length;
            case "decode_stored":
                return () -> MessageDecoder.decode(ByteBuffer.wrap(data), true, true, true).getQueueId();
            case "encode_stored":
                MessageExt message = MessageDecoder.decode(ByteBuffer.wrap(data), true, false, true);
                return () -> MessageDecoder.encode(message, false).length;
            case "decode_register":
                return () -> Registrations.decode(request).hashCode();
            default:
                throw new IllegalArgumentException("nothing to time: " + request.text("what"));
        }
    }
}
