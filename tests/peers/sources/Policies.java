import com.alibaba.fastjson2.JSON;
import com.alibaba.fastjson2.JSONArray;
import com.alibaba.fastjson2.JSONObject;
import com.alibaba.fastjson2.JSONWriter;
import java.io.PrintStream;
import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.apache.rocketmq.client.ClientConfig;
import org.apache.rocketmq.client.Validators;
import org.apache.rocketmq.client.common.ThreadLocalIndex;
import org.apache.rocketmq.client.consumer.AllocateMessageQueueStrategy;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMachineRoomNearby;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueAveragely;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueAveragelyByCircle;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueByConfig;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueByMachineRoom;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueConsistentHash;
import org.apache.rocketmq.client.impl.factory.MQClientInstance;
import org.apache.rocketmq.client.impl.consumer.ProcessQueue;
import org.apache.rocketmq.client.impl.producer.TopicPublishInfo;
import org.apache.rocketmq.client.latency.LatencyFaultTolerance;
import org.apache.rocketmq.client.latency.MQFaultStrategy;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.selector.SelectMessageQueueByHash;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageConst;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.common.topic.TopicValidator;
import org.apache.rocketmq.remoting.protocol.NamespaceUtil;
import org.apache.rocketmq.remoting.protocol.filter.FilterAPI;
import org.apache.rocketmq.remoting.protocol.heartbeat.SubscriptionData;
import org.apache.rocketmq.remoting.protocol.route.TopicRouteData;
import org.apache.rocketmq.remoting.rpc.ClientMetadata;

/** Answers what Java's client decides: a list of questions as JSON on standard input, a list of answers on standard output. */
public final class Policies {
    private Policies() {
    }

    public static void main(String[] ignored) throws Exception {
        PrintStream out = System.out;
        System.setOut(System.err);
        List<Object> answers = new ArrayList<>();
        for (Object question : JSON.parseArray(new String(System.in.readAllBytes(), StandardCharsets.UTF_8))) {
            answers.add(answer((JSONObject) question));
        }
        out.println(JSON.toJSONString(answers, JSONWriter.Feature.WriteNulls));
        out.flush();
        Runtime.getRuntime().halt(0);
    }

    private static Object answer(JSONObject asked) {
        try {
            return Map.of("value", Collections.singletonList(value(asked)));
        } catch (Throwable failure) {
            return Map.of("error", failure.getClass().getSimpleName());
        }
    }

    private static Object value(JSONObject asked) throws Throwable {
        switch (asked.getString("op")) {
            case "allocate":
                return numbers(asked, strategy(asked).allocate("g", asked.getString("cid"), queues(asked), texts(asked, "cids")));
            case "name":
                return strategy(asked).getName();
            case "sort":
                return sorted(asked);
            case "hash":
                return asked.getString("text").hashCode();
            case "hash_code":
                return boxed(asked).hashCode();
            case "by_hash":
                return queues(asked).indexOf(new SelectMessageQueueByHash().select(queues(asked), null, boxed(asked)));
            case "random":
                return random(asked);
            case "publish":
                return publish(asked);
            case "subscribe":
                return places(MQClientInstance.topicRouteData2TopicSubscribeInfo(asked.getString("topic"), route(asked)), null);
            case "static":
                return endpoints(asked);
            case "rotate":
                return rotate(asked);
            case "durations":
                return durations(asked);
            case "subscription":
                return subscription(asked);
            case "endpoint":
                return endpoint(asked.getString("text"));
            case "namespace":
                return namespace(asked);
            case "validate":
                return validate(asked);
            case "reserved":
                return new TreeSet<>(MessageConst.STRING_HASH_SET);
            case "retry_codes":
                return new TreeSet<>(new DefaultMQProducer("g").getRetryResponseCodes());
            case "process_queue":
                return processQueue(asked);
            default:
                throw new IllegalArgumentException(asked.getString("op"));
        }
    }

    private static List<String> texts(JSONObject asked, String name) {
        return asked.getList(name, String.class);
    }

    /** Queues as lists of topic, broker and number. */
    private static List<MessageQueue> queues(JSONObject asked) {
        return queuesOf(asked.getJSONArray("queues"));
    }

    private static List<MessageQueue> queuesOf(JSONArray rows) {
        List<MessageQueue> queues = new ArrayList<>();
        for (Object row : rows) {
            JSONArray members = (JSONArray) row;
            queues.add(new MessageQueue(members.getString(0), members.getString(1), members.getIntValue(2)));
        }
        return queues;
    }

    private static List<Integer> numbers(JSONObject asked, Collection<MessageQueue> chosen) {
        List<MessageQueue> all = queues(asked);
        List<Integer> numbers = new ArrayList<>();
        for (MessageQueue queue : chosen) {
            numbers.add(all.indexOf(queue));
        }
        return numbers;
    }

    private static List<List<Object>> places(Collection<MessageQueue> queues, Map<MessageQueue, String> brokers) {
        List<MessageQueue> sorted = new ArrayList<>(queues);
        Collections.sort(sorted);
        List<List<Object>> rows = new ArrayList<>();
        for (MessageQueue queue : sorted) {
            List<Object> row = new ArrayList<>(List.of(queue.getTopic(), queue.getBrokerName(), queue.getQueueId()));
            if (brokers != null) {
                row.add(brokers.get(queue));
            }
            rows.add(row);
        }
        return rows;
    }

    private static AllocateMessageQueueStrategy strategy(JSONObject asked) {
        switch (asked.getString("strategy")) {
            case "AVG":
                return new AllocateMessageQueueAveragely();
            case "AVG_BY_CIRCLE":
                return new AllocateMessageQueueAveragelyByCircle();
            case "CONSISTENT_HASH":
                return new AllocateMessageQueueConsistentHash(asked.getIntValue("nodes", 10));
            case "CONFIG":
                AllocateMessageQueueByConfig configured = new AllocateMessageQueueByConfig();
                configured.setMessageQueueList(queuesOf(asked.getJSONArray("configured")));
                return configured;
            case "MACHINE_ROOM":
                AllocateMessageQueueByMachineRoom room = new AllocateMessageQueueByMachineRoom();
                room.setConsumeridcs(new HashSet<>(texts(asked, "rooms")));
                return room;
            default:
                JSONObject inner = JSONObject.of("strategy", asked.getString("inner"));
                return new AllocateMachineRoomNearby(strategy(inner), new Rooms());
        }
    }

    /** A broker's and a consumer's room is what stands before the first hyphen of its name. */
    private static final class Rooms implements AllocateMachineRoomNearby.MachineRoomResolver {
        @Override
        public String brokerDeployIn(MessageQueue queue) {
            return queue.getBrokerName().split("-", 2)[0];
        }

        @Override
        public String consumerDeployIn(String client) {
            return client.split("-", 2)[0];
        }
    }

    /** Two members in this order; those of Map.of come in another one in each process. */
    private static Map<String, Object> both(String name, Object value, String other, Object another) {
        Map<String, Object> made = new LinkedHashMap<>();
        made.put(name, value);
        made.put(other, another);
        return made;
    }

    private static Object sorted(JSONObject asked) {
        List<String> clients = new ArrayList<>(texts(asked, "cids"));
        Collections.sort(clients);
        List<MessageQueue> queues = queues(asked);
        Collections.sort(queues);
        return both("queues", numbers(asked, queues), "cids", clients);
    }

    private static Object boxed(JSONObject asked) {
        String text = asked.getString("text");
        switch (asked.getString("type")) {
            case "int":
                return Integer.valueOf(text);
            case "long":
                return Long.valueOf(text);
            case "double":
                return Double.valueOf(text);
            case "boolean":
                return Boolean.valueOf(text);
            default:
                return text;
        }
    }

    private static List<Integer> random(JSONObject asked) {
        Random random = new Random(asked.getLongValue("seed"));
        List<Integer> numbers = new ArrayList<>();
        for (int bound : asked.getList("bounds", Integer.class)) {
            numbers.add(random.nextInt(bound));
        }
        return numbers;
    }

    private static TopicRouteData route(JSONObject asked) {
        return TopicRouteData.decode(asked.getString("route").getBytes(StandardCharsets.UTF_8), TopicRouteData.class);
    }

    private static Object publish(JSONObject asked) {
        TopicPublishInfo info = MQClientInstance.topicRouteData2TopicPublishInfo(asked.getString("topic"), route(asked));
        List<List<Object>> rows = new ArrayList<>();
        for (MessageQueue queue : info.getMessageQueueList()) {
            rows.addAll(places(List.of(queue), null));
        }
        return both("queues", rows, "ordered", info.isOrderTopic());
    }

    private static Object endpoints(JSONObject asked) {
        Map<MessageQueue, String> found = ClientMetadata.topicRouteData2EndpointsForStaticTopic(asked.getString("topic"), route(asked));
        return places(found.keySet(), found);
    }

    /** What is known of brokers, said by the question. */
    private static final class Known implements LatencyFaultTolerance<String> {
        private final Set<String> unavailable = new HashSet<>();
        private final Set<String> unreachable = new HashSet<>();
        private final List<List<Object>> updates = new ArrayList<>();

        @Override
        public void updateFaultItem(String name, long latency, long duration, boolean reachable) {
            updates.add(List.of(name, latency, duration, reachable));
        }

        @Override
        public boolean isAvailable(String name) {
            return !unavailable.contains(name);
        }

        @Override
        public boolean isReachable(String name) {
            return !unreachable.contains(name);
        }

        @Override
        public void remove(String name) {
        }

        @Override
        public String pickOneAtLeast() {
            return null;
        }

        @Override
        public void startDetector() {
        }

        @Override
        public void shutdown() {
        }

        @Override
        public void detectByOneRound() {
        }

        @Override
        public void setDetectTimeout(int timeout) {
        }

        @Override
        public void setDetectInterval(int interval) {
        }

        @Override
        public void setStartDetectorEnable(boolean enable) {
        }

        @Override
        public boolean isStartDetectorEnable() {
            return false;
        }
    }

    private static MQFaultStrategy faults(boolean enabled, Known known) throws Exception {
        ClientConfig config = new ClientConfig();
        config.setSendLatencyEnable(enabled);
        MQFaultStrategy strategy = new MQFaultStrategy(config, null, null);
        Field tolerance = MQFaultStrategy.class.getDeclaredField("latencyFaultTolerance");
        tolerance.setAccessible(true);
        tolerance.set(strategy, known);
        return strategy;
    }

    @SuppressWarnings("unchecked")
    private static Object rotate(JSONObject asked) throws Exception {
        Known known = new Known();
        known.unavailable.addAll(texts(asked, "unavailable"));
        known.unreachable.addAll(texts(asked, "unreachable"));
        TopicPublishInfo info = new TopicPublishInfo();
        info.setMessageQueueList(queues(asked));
        Field index = ThreadLocalIndex.class.getDeclaredField("threadLocalIndex");
        index.setAccessible(true);
        ((ThreadLocal<Integer>) index.get(info.getSendWhichQueue())).set(asked.getIntValue("start"));
        MQFaultStrategy strategy = faults(asked.getBooleanValue("enabled"), known);
        List<MessageQueue> chosen = new ArrayList<>();
        for (String last : texts(asked, "last")) {
            chosen.add(strategy.selectOneMessageQueue(info, last, false));
        }
        return numbers(asked, chosen);
    }

    private static Object durations(JSONObject asked) throws Exception {
        Known known = new Known();
        MQFaultStrategy strategy = faults(true, known);
        for (long latency : asked.getList("latencies", Long.class)) {
            strategy.updateFaultItem("b", latency, asked.getBooleanValue("isolate"), true);
        }
        List<Object> durations = new ArrayList<>();
        known.updates.forEach(update -> durations.add(update.get(2)));
        return durations;
    }

    private static Object subscription(JSONObject asked) throws Exception {
        SubscriptionData data = FilterAPI.build("T", asked.getString("text"), asked.getString("type"));
        Map<String, Object> found = new LinkedHashMap<>();
        found.put("text", data.getSubString());
        found.put("type", data.getExpressionType());
        found.put("tags", new TreeSet<>(data.getTagsSet()));
        found.put("codes", new TreeSet<>(data.getCodeSet()));
        return found;
    }

    private static Object endpoint(String endpoint) {
        ClientConfig config = new ClientConfig();
        config.setNamesrvAddr(endpoint);
        return both("namespace", config.getNamespace(), "address", config.getNamesrvAddr());
    }

    private static Object namespace(JSONObject asked) {
        String namespace = asked.getString("namespace");
        String name = asked.getString("text");
        Map<String, Object> found = new LinkedHashMap<>();
        found.put("wrapped", NamespaceUtil.wrapNamespace(namespace, name));
        found.put("without", NamespaceUtil.withoutNamespace(name, namespace));
        found.put("stripped", NamespaceUtil.withoutNamespace(name));
        found.put("inside", NamespaceUtil.isAlreadyWithNamespace(name, namespace));
        found.put("of", NamespaceUtil.getNamespaceFromResource(name));
        return found;
    }

    private interface Check {
        void run() throws Exception;
    }

    private static boolean passes(Check check) {
        try {
            check.run();
            return true;
        } catch (Exception refused) {
            return false;
        }
    }

    private static Object validate(JSONObject asked) {
        String text = asked.getString("text");
        DefaultMQProducer producer = new DefaultMQProducer("g");
        Map<String, Object> found = new LinkedHashMap<>();
        found.put("topic", passes(() -> Validators.checkTopic(text)));
        found.put("group", passes(() -> Validators.checkGroup(text)));
        found.put("broker", TopicValidator.validateTopic(text).isValid());
        found.put("system", TopicValidator.isSystemTopic(text));
        found.put("send", passes(() -> Validators.checkMessage(new Message(text, new byte[1]), producer)));
        found.put("property", passes(() -> new Message("T", new byte[1]).putUserProperty(text, "v")));
        found.put("value", passes(() -> new Message("T", new byte[1]).putUserProperty("n", text)));
        return found;
    }

    private static List<MessageExt> messages(JSONArray offsets) {
        List<MessageExt> messages = new ArrayList<>();
        for (Object offset : offsets) {
            MessageExt message = new MessageExt();
            message.setQueueOffset(((Number) offset).longValue());
            message.setBody(new byte[10]);
            messages.add(message);
        }
        return messages;
    }

    /** Steps are lists: what to do, and offsets or a number; each answers what it gave and what there is then. */
    private static Object processQueue(JSONObject asked) {
        ProcessQueue queue = new ProcessQueue();
        List<Object> found = new ArrayList<>();
        for (Object one : asked.getJSONArray("steps")) {
            JSONArray step = (JSONArray) one;
            Object gave = step(queue, step.getString(0), step.get(1));
            found.add(java.util.Arrays.asList(gave, queue.getMsgCount().get(), queue.getMsgSize().get(), queue.getMaxSpan()));
        }
        return found;
    }

    private static Object step(ProcessQueue queue, String what, Object argument) {
        switch (what) {
            case "put":
                return queue.putMessage(messages((JSONArray) argument));
            case "remove":
                return queue.removeMessage(messages((JSONArray) argument));
            case "take":
                List<Long> taken = new ArrayList<>();
                queue.takeMessages(((Number) argument).intValue()).forEach(message -> taken.add(message.getQueueOffset()));
                return taken;
            case "again":
                queue.makeMessageToConsumeAgain(messages((JSONArray) argument));
                return null;
            case "commit":
                return queue.commit();
            case "rollback":
                queue.rollback();
                return null;
            default:
                queue.clear();
                return null;
        }
    }
}
