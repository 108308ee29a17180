// Java's message store for bench/store: StoreBench write FOLDER BODY_BYTES LOG_BYTES, or StoreBench load FOLDER
import java.io.File;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.rocketmq.common.BrokerConfig;
import org.apache.rocketmq.common.message.MessageClientIDSetter;
import org.apache.rocketmq.common.message.MessageDecoder;
import org.apache.rocketmq.common.message.MessageExtBrokerInner;
import org.apache.rocketmq.store.DefaultMessageStore;
import org.apache.rocketmq.store.config.MessageStoreConfig;
import org.apache.rocketmq.store.stats.BrokerStatsManager;

public class StoreBench {
    static final int TOPICS = 5;
    static final int QUEUES = 4;
    static final String[] TAGS = {"created", "paid", "sent", "returned"};

    public static void main(String[] words) throws Exception {
        DefaultMessageStore store = open(words[1]);
        long begin = System.nanoTime();
        if (!store.load()) {
            throw new IllegalStateException("the store cannot be loaded");
        }
        long spent = System.nanoTime() - begin;
        if (words[0].equals("write")) {
            store.start();
            write(store, Integer.parseInt(words[2]), Long.parseLong(words[3]));
            store.shutdown();
        }
        System.out.println(store.getMaxPhyOffset() + " " + spent / 1_000_000);
        System.out.flush();
        Runtime.getRuntime().halt(0);
    }

    static DefaultMessageStore open(String folder) throws Exception {
        MessageStoreConfig config = new MessageStoreConfig();
        config.setStorePathRootDir(folder);
        config.setStorePathCommitLog(folder + File.separator + "commitlog");
        config.setMappedFileSizeCommitLog(256 << 20);
        config.setHaListenPort(0);
        config.setTimerWheelEnable(false);
        config.setDiskMaxUsedSpaceRatio(99);
        BrokerConfig broker = new BrokerConfig();
        return new DefaultMessageStore(config, new BrokerStatsManager(broker), null, broker, new ConcurrentHashMap<>());
    }

    static void write(DefaultMessageStore store, int bodySize, long logSize) throws Exception {
        Random random = new Random(22);
        InetSocketAddress producer = new InetSocketAddress("127.0.0.1", 40001);
        InetSocketAddress broker = new InetSocketAddress("127.0.0.1", 10911);
        for (int number = 0; store.getMaxPhyOffset() < logSize; number++) {
            MessageExtBrokerInner message = new MessageExtBrokerInner();
            message.setTopic("bench-topic-" + number % TOPICS);
            message.setQueueId(number / TOPICS % QUEUES);
            message.setTags(TAGS[random.nextInt(TAGS.length)]);
            message.setKeys("order-" + number);
            message.setBody(body(random, number, bodySize));
            MessageClientIDSetter.setUniqID(message);
            message.setBornTimestamp(System.currentTimeMillis());
            message.setBornHost(producer);
            message.setStoreHost(broker);
            message.setTagsCode(MessageExtBrokerInner.tagsString2tagsCode(null, message.getTags()));
            message.setPropertiesString(MessageDecoder.messageProperties2String(message.getProperties()));
            if (!store.putMessage(message).isOk()) {
                throw new IllegalStateException("message " + number + " was not stored");
            }
        }
        while (store.dispatchBehindBytes() > 0) {
            Thread.sleep(10);
        }
    }

    /** Text like the JSON of an order: names that repeat, numbers that do not. */
    static byte[] body(Random random, int number, int size) {
        StringBuilder text = new StringBuilder("{\"order\":").append(number);
        while (text.length() < size) {
            text.append(",\"item\":\"").append(Long.toString(random.nextLong() >>> 1, 36)).append('"');
        }
        text.setLength(size - 1);
        return text.append('}').toString().getBytes(StandardCharsets.UTF_8);
    }
}
