import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.rocketmq.client.apis.ClientConfiguration;
import org.apache.rocketmq.client.apis.ClientServiceProvider;
import org.apache.rocketmq.client.apis.consumer.ConsumeResult;
import org.apache.rocketmq.client.apis.consumer.FilterExpression;
import org.apache.rocketmq.client.apis.consumer.LitePushConsumer;
import org.apache.rocketmq.client.apis.consumer.PushConsumer;
import org.apache.rocketmq.client.apis.consumer.SimpleConsumer;
import org.apache.rocketmq.client.apis.message.MessageBuilder;
import org.apache.rocketmq.client.apis.message.MessageView;
import org.apache.rocketmq.client.apis.producer.Producer;
import org.apache.rocketmq.client.apis.producer.Transaction;
import org.apache.rocketmq.client.apis.producer.TransactionChecker;
import org.apache.rocketmq.client.apis.producer.TransactionResolution;

/**
 * Producer and consumer of the gRPC protocol, which a proxy speaks; lines in and out are those of Peer.java.
 *
 *   send ENDPOINT TOPIC FIRST COUNT                 keys are FIRST, FIRST+1 ...     -> nothing
 *   delay ENDPOINT TOPIC FIRST COUNT MILLIS         deliver them later                -> nothing
 *   fifo ENDPOINT TOPIC FIRST COUNT                 in two message groups by turns    -> nothing
 *   transactions ENDPOINT TOPIC FIRST               commit FIRST, roll back FIRST+1, let FIRST+2 be checked -> nothing
 *   push ENDPOINT TOPIC GROUP COUNT MILLIS          refuse the first delivery that comes of each key that ends in 7;
 *                                                   until COUNT different keys
 *                                                   -> one word per delivery: key, attempt
 *   receive ENDPOINT TOPIC GROUP COUNT MILLIS       until so many different keys    -> one word per delivery, its key
 *   sendLite ENDPOINT TOPIC LITE FIRST COUNT        to a lite topic                   -> nothing
 *   pushLite ENDPOINT TOPIC GROUP LITES COUNT MILLIS  lite topics with commas; until COUNT different keys
 *                                                   -> three words per delivery: lite topic, key, attempt
 */
public class GrpcPeer {
    private static final ClientServiceProvider PROVIDER = ClientServiceProvider.loadService();

    public static void main(String[] ignored) throws Exception {
        PrintStream answers = System.out;
        System.setOut(System.err);
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            String[] words = line.split("\t", -1);
            StringBuilder answer = new StringBuilder();
            try {
                List<String> result = perform(words[0], Arrays.copyOfRange(words, 1, words.length));
                answer.append('+');
                result.forEach(word -> append(answer, word));
            } catch (Throwable failure) {
                failure.printStackTrace();
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

    private static List<String> perform(String verb, String[] words) throws Exception {
        ClientConfiguration at = ClientConfiguration.newBuilder().setEndpoints(words[0]).enableSsl(false)
            .setRequestTimeout(Duration.ofSeconds(120)).build();
        switch (verb) {
            case "send":
                return send(at, words[1], Integer.parseInt(words[2]), Integer.parseInt(words[3]));
            case "delay":
                return delay(at, words[1], Integer.parseInt(words[2]), Integer.parseInt(words[3]), Long.parseLong(words[4]));
            case "fifo":
                return fifo(at, words[1], Integer.parseInt(words[2]), Integer.parseInt(words[3]));
            case "transactions":
                return transactions(at, words[1], Integer.parseInt(words[2]));
            case "push":
                return push(at, words[1], words[2], Integer.parseInt(words[3]), Long.parseLong(words[4]));
            case "receive":
                return receive(at, words[1], words[2], Integer.parseInt(words[3]), Long.parseLong(words[4]));
            case "sendLite":
                return sendLite(at, words[1], words[2], Integer.parseInt(words[3]), Integer.parseInt(words[4]));
            case "pushLite":
                return pushLite(at, words[1], words[2], words[3].split(","), Integer.parseInt(words[4]),
                    Long.parseLong(words[5]));
            default:
                throw new IllegalArgumentException("no such request: " + verb);
        }
    }

    private static List<String> send(ClientConfiguration at, String topic, int first, int count) throws Exception {
        try (Producer producer = PROVIDER.newProducerBuilder().setClientConfiguration(at).setTopics(topic).build()) {
            for (int key = first; key < first + count; key++) {
                byte[] body = ("message " + key).getBytes(StandardCharsets.UTF_8);
                producer.send(PROVIDER.newMessageBuilder().setTopic(topic).setKeys(String.valueOf(key)).setBody(body).build());
            }
        }
        return List.of();
    }

    private static MessageBuilder message(String topic, int key) {
        byte[] body = ("message " + key).getBytes(StandardCharsets.UTF_8);
        return PROVIDER.newMessageBuilder().setTopic(topic).setKeys(String.valueOf(key)).setBody(body);
    }

    private static List<String> delay(ClientConfiguration at, String topic, int first, int count, long millis) throws Exception {
        try (Producer producer = PROVIDER.newProducerBuilder().setClientConfiguration(at).setTopics(topic).build()) {
            for (int key = first; key < first + count; key++) {
                producer.send(message(topic, key).setDeliveryTimestamp(System.currentTimeMillis() + millis).build());
            }
        }
        return List.of();
    }

    private static List<String> fifo(ClientConfiguration at, String topic, int first, int count) throws Exception {
        try (Producer producer = PROVIDER.newProducerBuilder().setClientConfiguration(at).setTopics(topic).build()) {
            for (int key = first; key < first + count; key++) {
                producer.send(message(topic, key).setMessageGroup("group " + key % 2).build());
            }
        }
        return List.of();
    }

    private static List<String> transactions(ClientConfiguration at, String topic, int first) throws Exception {
        CountDownLatch checked = new CountDownLatch(1);
        TransactionChecker checker = view -> {
            checked.countDown();
            return TransactionResolution.COMMIT;
        };
        try (Producer producer = PROVIDER.newProducerBuilder().setClientConfiguration(at).setTopics(topic)
            .setTransactionChecker(checker).build()) {
            for (int key = first; key < first + 3; key++) {
                Transaction transaction = producer.beginTransaction();
                producer.send(message(topic, key).build(), transaction);
                if (key == first) {
                    transaction.commit();
                } else if (key == first + 1) {
                    transaction.rollback();
                }
            }
            if (!checked.await(120, TimeUnit.SECONDS)) {
                throw new IllegalStateException("no check came");
            }
            Thread.sleep(1000); // the resolution is sent after the checker has returned
        }
        return List.of();
    }

    private static List<String> push(ClientConfiguration at, String topic, String group, int count, long millis)
        throws Exception {
        List<String> deliveries = Collections.synchronizedList(new ArrayList<>());
        Set<String> keys = ConcurrentHashMap.newKeySet();
        Set<String> refused = ConcurrentHashMap.newKeySet();
        CountDownLatch done = new CountDownLatch(count);
        try (PushConsumer consumer = PROVIDER.newPushConsumerBuilder().setClientConfiguration(at).setConsumerGroup(group)
            .setSubscriptionExpressions(Map.of(topic, FilterExpression.SUB_ALL)).setMessageListener(view -> {
                String key = view.getKeys().iterator().next();
                synchronized (deliveries) {
                    deliveries.add(key);
                    deliveries.add(String.valueOf(view.getDeliveryAttempt()));
                }
                if (key.endsWith("7") && refused.add(key)) { // not the first attempt if that was lost on its way
                    return ConsumeResult.FAILURE;
                }
                if (keys.add(key)) {
                    done.countDown();
                }
                return ConsumeResult.SUCCESS;
            }).build()) {
            done.await(millis, TimeUnit.MILLISECONDS);
            return new ArrayList<>(deliveries);
        }
    }

    private static List<String> sendLite(ClientConfiguration at, String topic, String lite, int first, int count)
        throws Exception {
        try (Producer producer = PROVIDER.newProducerBuilder().setClientConfiguration(at).setTopics(topic).build()) {
            for (int key = first; key < first + count; key++) {
                producer.send(message(topic, key).setLiteTopic(lite).build());
            }
        }
        return List.of();
    }

    private static List<String> pushLite(ClientConfiguration at, String topic, String group, String[] lites, int count,
        long millis) throws Exception {
        List<String> deliveries = Collections.synchronizedList(new ArrayList<>());
        Set<String> keys = ConcurrentHashMap.newKeySet();
        CountDownLatch done = new CountDownLatch(count);
        try (LitePushConsumer consumer = PROVIDER.newLitePushConsumerBuilder().setClientConfiguration(at)
            .setConsumerGroup(group).bindTopic(topic).setMessageListener(view -> {
                String key = view.getKeys().iterator().next();
                synchronized (deliveries) {
                    deliveries.add(view.getLiteTopic().orElse(""));
                    deliveries.add(key);
                    deliveries.add(String.valueOf(view.getDeliveryAttempt()));
                }
                if (keys.add(key)) {
                    done.countDown();
                }
                return ConsumeResult.SUCCESS;
            }).build()) {
            for (String lite : lites) {
                consumer.subscribeLite(lite);
            }
            done.await(millis, TimeUnit.MILLISECONDS);
            return new ArrayList<>(deliveries);
        }
    }

    private static List<String> receive(ClientConfiguration at, String topic, String group, int count, long millis)
        throws Exception {
        List<String> keys = new ArrayList<>();
        long deadline = System.nanoTime() + millis * 1_000_000;
        try (SimpleConsumer consumer = PROVIDER.newSimpleConsumerBuilder().setClientConfiguration(at).setConsumerGroup(group)
            .setAwaitDuration(Duration.ofSeconds(10)).setSubscriptionExpressions(Map.of(topic, FilterExpression.SUB_ALL)).build()) {
            while (new HashSet<>(keys).size() < count && System.nanoTime() < deadline) {
                for (MessageView message : consumer.receive(16, Duration.ofSeconds(30))) {
                    keys.addAll(message.getKeys());
                    consumer.ack(message);
                }
            }
        }
        return keys;
    }
}
