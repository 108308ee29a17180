import java.lang.reflect.Field;
import java.util.Map;
import org.apache.rocketmq.broker.BrokerController;
import org.apache.rocketmq.broker.BrokerStartup;

/**
 * Java's broker, which registers when it starts.
 *
 * From 5.0 on a broker registers with those name servers that it was seen to reach, and looks for them in a thread that it starts a
 * moment before: where that thread is the later one, nothing is registered for ten seconds.  Here each server that is configured counts
 * as reachable at first; the thread says otherwise when it has looked.
 */
public class Broker {
    public static void main(String[] arguments) throws Exception {
        BrokerController controller = BrokerStartup.createBrokerController(arguments);
        Object client = value(controller.getBrokerOuterAPI(), "remotingClient");
        String servers = controller.getBrokerConfig().getNamesrvAddr();
        try {
            @SuppressWarnings("unchecked")
            Map<String, Boolean> reachable = (Map<String, Boolean>) value(client, "availableNamesrvAddrMap");
            for (String server : servers == null ? new String[0] : servers.split(";")) {
                reachable.putIfAbsent(server, true);
            }
        } catch (NoSuchFieldException old) {
            // 4.9 registers with all of them
        }
        BrokerStartup.start(controller);
        Long pause = Long.getLong("rocketwire.fetchNameServersMillis");
        if (pause != null) {
            fetchNameServers(controller, pause);
        }
    }

    /** Do what the broker's own timer does every two minutes, so that a test need not wait for that. */
    private static void fetchNameServers(BrokerController controller, long pause) {
        Thread timer = new Thread(() -> {
            while (true) {
                try {
                    controller.getBrokerOuterAPI().fetchNameServerAddr();
                    Thread.sleep(pause);
                } catch (InterruptedException ended) {
                    return;
                }
            }
        });
        timer.setDaemon(true);
        timer.start();
    }

    private static Object value(Object owner, String name) throws ReflectiveOperationException {
        Field field = owner.getClass().getDeclaredField(name);
        field.setAccessible(true);
        return field.get(owner);
    }
}
