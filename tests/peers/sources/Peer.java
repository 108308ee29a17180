import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.rocketmq.acl.common.AclClientRPCHook;
import org.apache.rocketmq.acl.common.SessionCredentials;
import org.apache.rocketmq.client.ClientConfig;
import org.apache.rocketmq.client.consumer.AllocateMessageQueueStrategy;
import org.apache.rocketmq.client.consumer.DefaultMQPullConsumer;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.PullResult;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.ConsumeOrderlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.consumer.listener.MessageListenerOrderly;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueAveragely;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueAveragelyByCircle;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueConsistentHash;
import org.apache.rocketmq.client.impl.MQClientManager;
import org.apache.rocketmq.client.impl.factory.MQClientInstance;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.client.producer.SendStatus;
import org.apache.rocketmq.client.trace.TraceBean;
import org.apache.rocketmq.client.trace.TraceContext;
import org.apache.rocketmq.client.trace.TraceDataEncoder;
import org.apache.rocketmq.client.utils.MessageUtil;
import org.apache.rocketmq.client.producer.LocalTransactionState;
import org.apache.rocketmq.client.producer.TransactionListener;
import org.apache.rocketmq.client.producer.TransactionMQProducer;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageClientExt;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.remoting.RPCHook;
import org.apache.rocketmq.remoting.exception.RemotingSendRequestException;
import org.apache.rocketmq.tools.command.MQAdminStartup;

/**
 * One JVM that plays producer, consumer and mqadmin for the tests: starting a JVM costs more than all that a test does in it.
 *
 * A request is one line of tab-separated words on stdin, the answer one line on stdout: "+" or "-" (it threw), then words.
 * Every word of an answer is base64 of UTF-8, so that tables with line ends fit.  End of stdin ends the process.
 *
 *   admin NAMESRV LINE           run one mqadmin line              -> what it printed to stdout, to stderr
 *   send NAMESRV TOPIC GROUP FIRST COUNT AGAIN                     -> number sent, text of the first failure
 *        keys are FIRST, FIRST+1 ...; the group's producer stays open until "close"; one that fails is sent AGAIN times more
 *   oneway NAMESRV TOPIC GROUP KEY                                 -> nothing
 *   consume NAMESRV TOPIC GROUP  start a push consumer             -> nothing
 *   join NAMESRV TOPIC GROUP NAME STRATEGY  start a push consumer that is one of several of its group (NAME from now on);
 *        STRATEGY is AVG, AVG_BY_CIRCLE or CONSISTENT_HASH         -> its client id
 *   note NAMESRV TOPIC GROUP NAME MODE FILE  join as NAME; MODE is orderly or concurrently.  Before a message counts as handled,
 *        the time in milliseconds, its queue id and offset are a line of FILE       -> its client id
 *   trace NAMESRV TOPIC GROUP MODE  start a push consumer with message trace; MODE is orderly or concurrently.  The first attempt
 *        at the body "bad" throws, and that at "later" asks for another                    -> nothing
 *   request NAMESRV TOPIC GROUP BODY MILLIS  send a message and wait for its reply -> the reply's body
 *   reply NAMESRV TOPIC GROUP    start a consumer that replies "re: BODY"          -> nothing
 *   transact NAMESRV TOPIC GROUP BODY  send in a transaction: the body "commit" or "rollback" ends it, and any other leaves that
 *        to the broker's check, which is told to commit                                    -> nothing
 *   traces BODY                  decode the body of a trace message, given in base64 -> one word per record, its fields by lines
 *   queues NAME                  the ids of the queues that it has -> one word per queue
 *   received GROUP COUNT MILLIS  wait for COUNT different keys     -> one word per delivery, its key
 *   load NAMESRV TOPIC GROUP GAP  send keys GROUP-0, GROUP-1, ... GAP ms apart until "unload" -> nothing
 *   loaded GROUP COUNT MILLIS    wait until so many of them were stored               -> number stored
 *   unload GROUP                 stop that             -> keys stored, joined by spaces; what each other one met, by lines
 *   close GROUP                  shut the group's producer or consumer down
 *
 * Java gives most things three seconds, mqadmin five, and then closes the connection, which makes a producer send again and a
 * consumer read again.  A machine under load exceeds these, so that all clients here have PATIENCE.
 */
public class Peer {
    private static final int PATIENCE = 60_000;

    private final Map<String, DefaultMQProducer> producers = new HashMap<>();
    private final Map<String, DefaultMQPushConsumer> consumers = new HashMap<>();
    private final Map<String, List<String>> deliveries = new HashMap<>();
    private final Map<String, Load> loads = new HashMap<>();

    public static void main(String[] ignored) throws Exception {
        PrintStream answers = System.out;
        System.setOut(System.err);
        startHurrying();
        bePatient();
        Peer peer = new Peer();
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            String[] words = line.split("\t", -1);
            StringBuilder answer = new StringBuilder();
            try {
                List<String> result = peer.perform(words[0], Arrays.copyOfRange(words, 1, words.length));
                answer.append('+');
                result.forEach(word -> append(answer, word));
            } catch (Throwable failure) {
                answer.setLength(0);
                append(answer.append('-'), failure.toString());
            }
            answers.println(answer);
            answers.flush();
        }
        Runtime.getRuntime().halt(0);
    }

    private static void append(StringBuilder answer, String word) {
        answer.append('\t').append(Base64.getEncoder().encodeToString(word.getBytes(StandardCharsets.UTF_8)));
    }

    /**
     * Every mqadmin line shuts a client down, which waits up to 3 s for that client's event thread to look up from its empty
     * queue.  An interrupt makes it look up at once and means nothing else to it.
     */
    private static void startHurrying() {
        Thread hurrying = new Thread(() -> {
            while (true) {
                Thread[] threads = new Thread[Thread.activeCount() + 64];
                int count = Thread.enumerate(threads);
                for (int i = 0; i < count; i++) {
                    if (threads[i].getName().startsWith("NettyEventExecutor")) {
                        threads[i].interrupt();
                    }
                }
                try {
                    Thread.sleep(100);
                } catch (InterruptedException stop) {
                    return;
                }
            }
        });
        hurrying.setDaemon(true);
        hurrying.start();
    }

    /** Give the clients that mqadmin makes, which nobody else can configure, our patience as they are noted in Java's own tables. */
    private static void bePatient() throws ReflectiveOperationException {
        field(MQClientManager.class, "factoryTable").set(MQClientManager.getInstance(), new Noted<MQClientInstance>() {
            @Override
            void prepare(MQClientInstance client) throws ReflectiveOperationException {
                ((ClientConfig) field(MQClientInstance.class, "clientConfig").get(client)).setMqClientApiTimeout(PATIENCE);
                field(MQClientInstance.class, "adminExtTable").set(client, new Noted<Object>() {
                    @Override
                    void prepare(Object admin) throws ReflectiveOperationException {
                        field(admin.getClass(), "timeoutMillis").set(admin, (long) PATIENCE);
                    }
                });
            }
        });
    }

    private static Field field(Class<?> owner, String name) throws NoSuchFieldException {
        Field field = owner.getDeclaredField(name);
        field.setAccessible(true);
        return field;
    }

    /** A table that prepares what it is given. */
    private abstract static class Noted<V> extends ConcurrentHashMap<String, V> {
        abstract void prepare(V value) throws ReflectiveOperationException;

        @Override
        public V putIfAbsent(String name, V value) {
            try {
                prepare(value);
            } catch (ReflectiveOperationException unknown) {
                throw new IllegalStateException(unknown);
            }
            return super.putIfAbsent(name, value);
        }
    }

    /** Every message of a topic, as Java's client reads it: id, offset id, queue, offset, topic, body in base64, then the properties. */
    @SuppressWarnings("deprecation")
    private static List<String> read(String nameServers, String topic) throws Exception {
        DefaultMQPullConsumer consumer = new DefaultMQPullConsumer("peer-reader");
        consumer.setNamesrvAddr(nameServers);
        consumer.setInstanceName("reader-" + System.nanoTime());
        consumer.start();
        List<String> found = new ArrayList<>();
        try {
            for (MessageQueue queue : consumer.fetchSubscribeMessageQueues(topic)) {
                long at = consumer.minOffset(queue);
                while (at < consumer.maxOffset(queue)) {
                    PullResult pulled = consumer.pull(queue, "*", at, 32);
                    if (pulled.getMsgFoundList() != null) {
                        pulled.getMsgFoundList().forEach(message -> found.add(described((MessageClientExt) message)));
                    }
                    at = Math.max(at + 1, pulled.getNextBeginOffset());
                }
            }
        } finally {
            consumer.shutdown();
        }
        return found;
    }

    private static String described(MessageClientExt message) {
        List<String> lines = new ArrayList<>(List.of(
            message.getMsgId(),
            message.getOffsetMsgId(),
            String.valueOf(message.getQueueId()),
            String.valueOf(message.getQueueOffset()),
            message.getTopic(),
            Base64.getEncoder().encodeToString(message.getBody())));
        message.getProperties().forEach((name, value) -> lines.add(name + "=" + value));
        return String.join("\n", lines);
    }

    /** What Java reads in the body of a trace message. */
    private static List<String> traces(String body) {
        List<String> records = new ArrayList<>();
        for (TraceContext record : TraceDataEncoder.decoderFromTraceDataString(body)) {
            TraceBean message = record.getTraceBeans().get(0);
            records.add(String.join("\n",
                record.getTraceType().name(),
                record.getRegionId(),
                record.getGroupName(),
                record.getRequestId(),
                String.valueOf(record.getTimeStamp()),
                String.valueOf(record.getCostTime()),
                String.valueOf(record.isSuccess()),
                String.valueOf(record.getContextCode()),
                message.getMsgId(),
                message.getKeys(),
                String.valueOf(message.getRetryTimes())));
        }
        return records;
    }

    private List<String> perform(String verb, String[] words) throws Exception {
        switch (verb) {
            case "admin":
                return admin(words[0], words[1]);
            case "send":
                DefaultMQProducer sender = producer(words[0], words[2]);
                sender.setRetryTimesWhenSendFailed(Integer.parseInt(words[5]));
                return send(sender, words[1], Integer.parseInt(words[3]), Integer.parseInt(words[4]));
            case "fill":
                return List.of(String.valueOf(fill(producer(words[0], words[2]), words)));
            case "oneway":
                producer(words[0], words[2]).sendOneway(message(words[1], words[3]));
                return List.of();
            case "consume":
                consume(words[0], words[1], words[2], words[2], new AllocateMessageQueueAveragely());
                return List.of();
            case "join":
                return List.of(consume(words[0], words[1], words[2], words[3], strategy(words[4])));
            case "note":
                return List.of(note(words[0], words[1], words[2], words[3], words[4].equals("orderly"), words[5]));
            case "trace":
                trace(words[0], words[1], words[2], words[3].equals("orderly"));
                return List.of();
            case "request":
                Message asked = new Message(words[1], words[3].getBytes(StandardCharsets.UTF_8));
                Message answered = producer(words[0], words[2]).request(asked, Long.parseLong(words[4]));
                return List.of(new String(answered.getBody(), StandardCharsets.UTF_8));
            case "transact":
                transactions(words[0], words[2]).sendMessageInTransaction(
                    new Message(words[1], words[3].getBytes(StandardCharsets.UTF_8)), null);
                return List.of();
            case "reply":
                reply(words[0], words[1], words[2]);
                return List.of();
            case "read":
                return read(words[0], words[1]);
            case "traces":
                return traces(new String(Base64.getDecoder().decode(words[0]), StandardCharsets.UTF_8));
            case "queues":
                return queues(words[0]);
            case "received":
                return received(words[0], Integer.parseInt(words[1]), Long.parseLong(words[2]));
            case "load":
                Load before = loads.put(words[2], new Load(producer(words[0], words[2]), words[1], Long.parseLong(words[3])));
                if (before != null) {
                    before.ended = true;
                }
                return List.of();
            case "loaded":
                return List.of(String.valueOf(loads.get(words[0]).stored(Integer.parseInt(words[1]), Long.parseLong(words[2]))));
            case "unload":
                return loads.remove(words[0]).end();
            case "close":
                return close(words[0]);
            default:
                throw new IllegalArgumentException("no such request: " + verb);
        }
    }

    private List<String> admin(String nameServer, String line) throws ReflectiveOperationException {
        for (Field each : MQAdminStartup.class.getDeclaredFields()) {
            if (each.getType() == List.class) { // the commands, some of which work once; they are made anew
                ((List<?>) field(MQAdminStartup.class, each.getName()).get(null)).clear();
            }
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        PrintStream previous = System.err;
        System.setProperty("rocketmq.namesrv.addr", nameServer);
        System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
        System.setErr(new PrintStream(err, true, StandardCharsets.UTF_8));
        try {
            MQAdminStartup.main0(line.split(" +"), null);
        } finally {
            System.setOut(previous);
            System.setErr(previous);
        }
        return List.of(out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
    }

    private TransactionMQProducer transactions(String nameServer, String group) throws Exception {
        DefaultMQProducer known = producers.get(group);
        if (known instanceof TransactionMQProducer) {
            return (TransactionMQProducer) known;
        }
        TransactionMQProducer fresh = new TransactionMQProducer(group);
        fresh.setNamesrvAddr(nameServer);
        fresh.setInstanceName(group);
        fresh.setSendMsgTimeout(PATIENCE);
        fresh.setTransactionListener(new TransactionListener() {
            @Override
            public LocalTransactionState executeLocalTransaction(Message message, Object argument) {
                switch (new String(message.getBody(), StandardCharsets.UTF_8)) {
                    case "commit":
                        return LocalTransactionState.COMMIT_MESSAGE;
                    case "rollback":
                        return LocalTransactionState.ROLLBACK_MESSAGE;
                    default:
                        return LocalTransactionState.UNKNOW;
                }
            }

            @Override
            public LocalTransactionState checkLocalTransaction(MessageExt message) {
                return LocalTransactionState.COMMIT_MESSAGE;
            }
        });
        fresh.start();
        producers.put(group, fresh);
        return fresh;
    }

    private DefaultMQProducer producer(String nameServer, String group) throws Exception {
        DefaultMQProducer known = producers.get(group);
        if (known != null && nameServer.equals(Objects.requireNonNullElse(known.getNamesrvAddr(), ""))) {
            return known;
        }
        if (known != null) {
            known.shutdown(); // left behind by a test that failed
        }
        DefaultMQProducer fresh = new DefaultMQProducer(group, signing());
        if (!nameServer.isEmpty()) { // without one it asks the address server
            fresh.setNamesrvAddr(nameServer);
        }
        fresh.setInstanceName(group);
        fresh.setPollNameServerInterval(1000);
        fresh.setHeartbeatBrokerInterval(1000);
        fresh.setSendMsgTimeout(PATIENCE);
        fresh.start();
        producers.put(group, fresh);
        return fresh;
    }

    private static Message message(String topic, String key) {
        return new Message(topic, "tag", key, ("message " + key).getBytes(StandardCharsets.UTF_8));
    }

    private static List<String> send(DefaultMQProducer producer, String topic, int first, int count) {
        int sent = 0;
        String failure = "";
        for (int key = first; key < first + count; key++) {
            try {
                SendResult result = producer.send(message(topic, String.valueOf(key)));
                if (result.getSendStatus() == SendStatus.SEND_OK) {
                    sent++;
                } else if (failure.isEmpty()) {
                    failure = result.toString();
                }
            } catch (Exception refused) {
                failure = failure.isEmpty() ? text(refused) : failure;
            }
        }
        return List.of(String.valueOf(sent), failure);
    }

    /** Sends messages of equal bytes to one queue, as the producer compresses them by itself: size, count, queue, type and level. */
    private static int fill(DefaultMQProducer producer, String[] words) throws Exception {
        if (!words[6].equals("default")) {
            Class<?> type = Class.forName("org.apache.rocketmq.common.compression.CompressionType");
            Object value = type.getMethod("of", String.class).invoke(null, words[6]);
            DefaultMQProducer.class.getMethod("setCompressType", type).invoke(producer, value);
            DefaultMQProducer.class.getMethod("setCompressLevel", int.class).invoke(producer, Integer.parseInt(words[7]));
        }
        MessageQueue queue = null;
        for (MessageQueue each : producer.fetchPublishMessageQueues(words[1])) {
            queue = each.getQueueId() == Integer.parseInt(words[5]) ? each : queue;
        }
        int sent = 0;
        for (int number = 0; number < Integer.parseInt(words[4]); number++) {
            byte[] body = new byte[Integer.parseInt(words[3])];
            Arrays.fill(body, (byte) ('a' + number % 26));
            Message message = new Message(words[1], body);
            SendResult result = null;
            for (int left = 2; result == null; left--) {
                try {
                    result = producer.send(message, queue);
                } catch (RemotingSendRequestException unsent) {  // to a queue, Java's producer tries once
                    if (left == 0) {
                        throw unsent;
                    }
                }
            }
            sent += result.getSendStatus() == SendStatus.SEND_OK ? 1 : 0;
        }
        return sent;
    }

    /** An exception and what it was caused by. */
    private static String text(Throwable failure) {
        return failure + (failure.getCause() == null ? "" : " caused by " + text(failure.getCause()));
    }

    private static AllocateMessageQueueStrategy strategy(String name) {
        switch (name) {
            case "AVG":
                return new AllocateMessageQueueAveragely();
            case "AVG_BY_CIRCLE":
                return new AllocateMessageQueueAveragelyByCircle();
            case "CONSISTENT_HASH":
                return new AllocateMessageQueueConsistentHash();
            default:
                throw new IllegalArgumentException("no such strategy: " + name);
        }
    }

    private List<String> queues(String name) {
        List<String> ids = new ArrayList<>();
        for (MessageQueue queue : consumers.get(name).getDefaultMQPushConsumerImpl().getRebalanceImpl().getProcessQueueTable().keySet()) {
            if (!queue.getTopic().startsWith("%RETRY%")) {
                ids.add(queue.getBrokerName() + "/" + queue.getQueueId());
            }
        }
        return ids;
    }

    private DefaultMQPushConsumer consumer(String nameServer, String topic, String group, String name) throws Exception {
        return prepared(
            new DefaultMQPushConsumer(group, signing(), new AllocateMessageQueueAveragely()), nameServer, topic, name);
    }

    /** Signs requests with the account of the properties acl.accessKey and acl.secretKey; null without them. */
    private static RPCHook signing() {
        String key = System.getProperty("acl.accessKey");
        return key == null ? null : new AclClientRPCHook(new SessionCredentials(key, System.getProperty("acl.secretKey")));
    }

    private DefaultMQPushConsumer prepared(DefaultMQPushConsumer consumer, String nameServer, String topic, String name)
        throws Exception {
        DefaultMQPushConsumer known = consumers.get(name);
        if (known != null && known.getConsumerGroup().equals(consumer.getConsumerGroup())) {
            known.shutdown(); // left behind by a test that failed
        }
        consumer.setNamesrvAddr(nameServer);
        consumer.setInstanceName(name);
        consumer.setPollNameServerInterval(1000);
        consumer.setHeartbeatBrokerInterval(1000);
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.setConsumeThreadMin(2);
        consumer.setConsumeThreadMax(2);
        consumer.subscribe(topic, "*");
        return consumer;
    }

    private String note(String nameServer, String topic, String group, String name, boolean orderly, String file) throws Exception {
        PrintWriter lines = new PrintWriter(file, StandardCharsets.UTF_8);
        DefaultMQPushConsumer consumer = consumer(nameServer, topic, group, name);
        if (orderly) {
            consumer.registerMessageListener((MessageListenerOrderly) (messages, context) -> {
                note(lines, messages);
                return ConsumeOrderlyStatus.SUCCESS;
            });
        } else {
            consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
                note(lines, messages);
                return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
            });
        }
        consumer.start();
        consumers.put(name, consumer);
        return consumer.buildMQClientId();
    }

    private static void note(PrintWriter lines, List<MessageExt> messages) {
        synchronized (lines) {
            for (MessageExt message : messages) {
                lines.println(System.currentTimeMillis() + " " + message.getQueueId() + " " + message.getQueueOffset());
            }
            lines.flush();
        }
    }

    private void trace(String nameServer, String topic, String group, boolean orderly) throws Exception {
        DefaultMQPushConsumer consumer = prepared(new DefaultMQPushConsumer(group, true, null), nameServer, topic, group);
        if (orderly) {
            consumer.registerMessageListener((MessageListenerOrderly) (messages, context) ->
                succeeds(messages.get(0)) ? ConsumeOrderlyStatus.SUCCESS : ConsumeOrderlyStatus.SUSPEND_CURRENT_QUEUE_A_MOMENT);
        } else {
            consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) ->
                succeeds(messages.get(0)) ? ConsumeConcurrentlyStatus.CONSUME_SUCCESS : ConsumeConcurrentlyStatus.RECONSUME_LATER);
        }
        consumer.start();
        consumers.put(group, consumer);
    }

    private static boolean succeeds(MessageExt message) {
        String body = new String(message.getBody(), StandardCharsets.UTF_8);
        if (message.getReconsumeTimes() == 0 && body.equals("bad")) {
            throw new IllegalStateException("on purpose");
        }
        return message.getReconsumeTimes() > 0 || !body.equals("later");
    }

    private void reply(String nameServer, String topic, String group) throws Exception {
        DefaultMQProducer producer = producer(nameServer, group);
        DefaultMQPushConsumer consumer = consumer(nameServer, topic, group, group);
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            try {
                for (MessageExt message : messages) {
                    String body = "re: " + new String(message.getBody(), StandardCharsets.UTF_8);
                    producer.send(MessageUtil.createReplyMessage(message, body.getBytes(StandardCharsets.UTF_8)));
                }
            } catch (Exception refused) {
                refused.printStackTrace();
            }
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        consumer.start();
        consumers.put(group, consumer);
    }

    private String consume(
        String nameServer, String topic, String group, String name, AllocateMessageQueueStrategy strategy) throws Exception {
        List<String> keys = new ArrayList<>();
        deliveries.put(name, keys);
        DefaultMQPushConsumer consumer = consumer(nameServer, topic, group, name);
        consumer.setAllocateMessageQueueStrategy(strategy);
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            synchronized (keys) {
                for (MessageExt message : messages) {
                    keys.add(message.getKeys());
                }
                keys.notifyAll();
            }
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        consumer.start();
        consumers.put(name, consumer);
        return consumer.buildMQClientId();
    }

    private List<String> received(String group, int count, long millis) throws InterruptedException {
        List<String> keys = deliveries.get(group);
        long deadline = System.nanoTime() + millis * 1_000_000;
        synchronized (keys) {
            for (long left = millis; new HashSet<>(keys).size() < count && left > 0; left = (deadline - System.nanoTime()) / 1_000_000) {
                keys.wait(left);
            }
            return new ArrayList<>(keys);
        }
    }

    private List<String> close(String group) {
        DefaultMQProducer producer = producers.remove(group);
        if (producer != null) {
            producer.shutdown();
        }
        DefaultMQPushConsumer consumer = consumers.remove(group);
        if (consumer != null) {
            consumer.shutdown();
        }
        return List.of();
    }

    /** A thread that sends one message after the other and keeps account of them. */
    private static class Load {
        private final List<String> stored = new ArrayList<>();
        private final List<String> failures = new ArrayList<>();
        private final Thread thread;
        private volatile boolean ended;

        Load(DefaultMQProducer producer, String topic, long gap) {
            thread = new Thread(() -> {
                for (int key = 0; !ended; key++) {
                    send(producer, message(topic, producer.getProducerGroup() + "-" + key));
                    try {
                        Thread.sleep(gap);
                    } catch (InterruptedException stop) {
                        return;
                    }
                }
            });
            thread.start();
        }

        private void send(DefaultMQProducer producer, Message message) {
            String failure;
            try {
                SendResult result = producer.send(message);
                failure = result.getSendStatus() == SendStatus.SEND_OK ? null : result.toString();
            } catch (Exception refused) {
                failure = text(refused);
            }
            synchronized (this) {
                if (failure == null) {
                    stored.add(message.getKeys());
                } else {
                    failures.add(message.getKeys() + ": " + failure.replace('\n', ' '));
                }
                notifyAll();
            }
        }

        synchronized int stored(int count, long millis) throws InterruptedException {
            long deadline = System.nanoTime() + millis * 1_000_000;
            for (long left = millis; stored.size() < count && left > 0; left = (deadline - System.nanoTime()) / 1_000_000) {
                wait(left);
            }
            return stored.size();
        }

        List<String> end() throws InterruptedException {
            ended = true;
            thread.join();
            return List.of(String.join(" ", stored), String.join("\n", failures));
        }
    }
}
