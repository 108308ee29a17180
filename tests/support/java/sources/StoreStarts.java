import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.apache.rocketmq.common.BrokerConfig;
import org.apache.rocketmq.common.MixAll;
import org.apache.rocketmq.common.TopicConfig;
import org.apache.rocketmq.store.DefaultMessageStore;
import org.apache.rocketmq.store.GetMessageResult;
import org.apache.rocketmq.store.GetMessageStatus;
import org.apache.rocketmq.store.MessageArrivingListener;
import org.apache.rocketmq.store.config.MessageStoreConfig;
import org.apache.rocketmq.store.stats.BrokerStatsManager;

/**
 * Starts the store of a broker, without the rest of the broker, as often as it is told: one JVM serves a thousand stores.
 *
 * A request is one line of words with tabs between them: the folder of the store, a file for the bytes of pulls, topics with queues of
 * batches (joined by commas), settings (name=value, joined by commas), and the queues to pull, each as topic/queue, or as topic/queue/1 for
 * pulls of one message at a time.  The answer is one line too: "started", "refused" or "failed" with a text; after "started" the least and the
 * largest offset of the log; for each queue its least and largest offset, and for each pull its offset, status, next offset and number of
 * bytes; and behind "+" all queues of Java's that are not empty.  Names of topics are as in a URL, for damage makes any characters of them.
 */
public class StoreStarts {
    private static final long PATIENCE = 60_000;

    private static final long SETTLE = 500;

    private static final String BATCH_TOPIC = "queue.type";

    public static void main(String[] arguments) throws Exception {
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        PrintStream answers = new PrintStream(System.out, true, "UTF-8");
        System.setOut(System.err); // Java's classes print too
        String request;
        while ((request = requests.readLine()) != null) {
            String answer;
            try {
                answer = answer(request.split("\t", -1));
            } catch (Throwable failure) {
                failure.printStackTrace();
                answer = "failed\t" + failure.toString().replaceAll("\\s", " ");
            }
            answers.println(answer);
        }
    }

    private static String answer(String[] words) throws Exception {
        DefaultMessageStore store = store(words[0], words[2], words[3]);
        try {
            if (!store.load()) {
                return "refused";
            }
            store.start();
            long end = System.currentTimeMillis() + PATIENCE;
            while (store.dispatchBehindBytes() > 0) {
                if (System.currentTimeMillis() > end) {
                    return "failed\tmessages are in no queue after " + PATIENCE + " ms";
                }
                Thread.sleep(5);
            }
            if (isRocksDb(words[3])) {
                Thread.sleep(SETTLE); // a thread of its own writes units, and shows nowhere how far it is
            }
            return started(store, words);
        } finally {
            Thread end = new Thread(store::shutdown); // it sleeps for seconds
            end.setDaemon(true);
            end.start();
        }
    }

    private static String started(DefaultMessageStore store, String[] words) throws Exception {
        List<String> answer = new ArrayList<>();
        answer.add("started");
        answer.add(store.getMinPhyOffset() + "," + store.getMaxPhyOffset());
        try (FileChannel pulled = FileChannel.open(Path.of(words[1]), StandardOpenOption.CREATE, StandardOpenOption.WRITE,
                StandardOpenOption.TRUNCATE_EXISTING)) {
            for (int i = 4; i < words.length; i++) {
                String[] queue = words[i].split("/");
                answer.add(queue(store, decoded(queue[0]), Integer.parseInt(queue[1]), queue.length > 2, pulled));
            }
        }
        TreeSet<String> names = new TreeSet<>();
        for (Map.Entry<String, ? extends Map<Integer, ?>> topic : store.getConsumeQueueTable().entrySet()) {
            for (Integer queue : topic.getValue().keySet()) {
                if (store.getMaxOffsetInQueue(topic.getKey(), queue) > 0) {
                    names.add(URLEncoder.encode(topic.getKey(), StandardCharsets.UTF_8) + "/" + queue);
                }
            }
        }
        answer.add("+" + String.join(" ", names));
        return String.join("\t", answer);
    }

    private static String queue(DefaultMessageStore store, String topic, int queue, boolean isSingle, FileChannel pulled)
            throws Exception {
        long offset = store.getMinOffsetInQueue(topic, queue);
        long end = store.getMaxOffsetInQueue(topic, queue);
        StringBuilder text = new StringBuilder(offset + "," + end);
        while (offset < end) {
            String status;
            long next = offset;
            long size = 0;
            try {
                GetMessageResult result = store.getMessage("readers", topic, queue, offset, isSingle ? 1 : 32, null);
                status = result.getStatus().name();
                next = result.getNextBeginOffset();
                if (result.getStatus() == GetMessageStatus.FOUND) {
                    for (ByteBuffer message : result.getMessageBufferList()) {
                        size += message.remaining();
                        while (message.hasRemaining()) {
                            pulled.write(message);
                        }
                    }
                }
                result.release();
            } catch (RuntimeException failure) { // a broker does not answer then
                status = failure.getClass().getSimpleName();
            }
            text.append(';').append(offset).append(',').append(status).append(',').append(next).append(',').append(size);
            if (!isSingle && next <= offset) {
                break;
            }
            offset = isSingle ? offset + 1 : next;
        }
        return text.toString();
    }

    private static String decoded(String topic) {
        return URLDecoder.decode(topic, StandardCharsets.UTF_8);
    }

    private static boolean isRocksDb(String settings) {
        return ("," + settings + ",").contains(",storeType=defaultRocksDB,");
    }

    private static DefaultMessageStore store(String root, String batchTopics, String settings) throws Exception {
        MessageStoreConfig config = new MessageStoreConfig();
        Properties properties = new Properties();
        for (String setting : settings.split(",")) {
            String[] parts = setting.split("=", 2);
            properties.setProperty(parts[0], parts[1]);
        }
        MixAll.properties2Object(properties, config);
        config.setStorePathRootDir(root);
        config.setStorePathCommitLog(root + "/commitlog");
        config.setHaListenPort(0);
        BrokerConfig broker = new BrokerConfig();
        MixAll.properties2Object(properties, broker);
        MessageArrivingListener listener = (topic, queue, offset, tag, time, filter, values) -> { };
        BrokerStatsManager statistics = new BrokerStatsManager("cluster", false);
        for (Constructor<?> constructor : DefaultMessageStore.class.getConstructors()) {
            if (constructor.getParameterCount() == 4) {
                return (DefaultMessageStore) constructor.newInstance(config, statistics, listener, broker);
            }
        }
        ConcurrentMap<String, TopicConfig> topics = new ConcurrentHashMap<>();
        Method set = TopicConfig.class.getMethod("setAttributes", Map.class);
        for (String name : batchTopics.isEmpty() ? new String[0] : batchTopics.split(",")) {
            TopicConfig topic = new TopicConfig(decoded(name));
            set.invoke(topic, Collections.singletonMap(BATCH_TOPIC, "BatchCQ"));
            topics.put(topic.getTopicName(), topic);
        }
        Class<?> kind = isRocksDb(settings) ? Class.forName("org.apache.rocketmq.store.RocksDBMessageStore") : DefaultMessageStore.class;
        for (Constructor<?> constructor : kind.getConstructors()) {
            if (constructor.getParameterCount() == 5) {
                return (DefaultMessageStore) constructor.newInstance(config, statistics, listener, broker, topics);
            }
        }
        throw new IllegalStateException("no constructor of DefaultMessageStore that is known here");
    }
}
