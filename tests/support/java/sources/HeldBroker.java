import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.rocketmq.broker.BrokerStartup;

/**
 * Java's broker, which stops putting messages into queues when a file {@code hold} appears in its
 * folder, and then writes a file {@code held}.
 *
 * A broker that is killed loses nothing of its queues otherwise: the thread that builds them is a
 * millisecond behind.
 */
public class HeldBroker {
    public static void main(String[] arguments) throws Exception {
        BrokerStartup.main(arguments);
        while (!Files.exists(Path.of("hold"))) {
            Thread.sleep(50);
        }
        Thread builder = builder();
        builder.suspend();
        while (builder.getState() != Thread.State.TIMED_WAITING) { // it may hold a lock
            builder.resume();
            Thread.sleep(1);
            builder.suspend();
        }
        Files.createFile(Path.of("held"));
    }

    private static Thread builder() {
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            if (thread.getName().endsWith("ReputMessageService")) {
                return thread;
            }
        }
        throw new IllegalStateException("no thread ReputMessageService");
    }
}
