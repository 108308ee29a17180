// Java's own clients in a loop, for bench/client and bench/broker: ClientBench NAMESRV TOPIC [first]; verbs as of bench/client/ours.py
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendCallback;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;

public class ClientBench {
    static final int IN_FLIGHT = 16;
    static final int PRODUCERS = 16;
    static final List<DefaultMQProducer> many = new ArrayList<>();
    static byte[] body = new byte[1024];

    public static void main(String[] words) throws Exception {
        Arrays.fill(body, (byte) 'x');
        DefaultMQProducer producer = new DefaultMQProducer("bench-java");
        producer.setNamesrvAddr(words[0]);
        producer.setSendMsgTimeout(60_000);  // ours waits as long: a slow moment of the broker's is not the client's
        producer.setMqClientApiTimeout(60_000);
        producer.start();
        String topic = words[1];
        if (words.length > 2) {
            producer.send(new Message(topic, body));
            System.out.println("done");
            System.out.flush();
            Runtime.getRuntime().halt(0);
        }
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        int number = 0;
        for (String line; (line = in.readLine()) != null; ) {
            String[] asked = line.split(" ");
            int count = Integer.parseInt(asked[1]);
            switch (asked[0]) {
                case "sync":
                    sync(producer, topic, count);
                    break;
                case "async":
                    async(producer, topic, count);
                    break;
                case "producers":
                    producers(words[0], topic, count);
                    break;
                default:
                    push(words[0], topic, "bench-java-" + ++number, count);
            }
        }
        Runtime.getRuntime().halt(0);
    }

    static void say(String word) {
        System.out.println(word);
        System.out.flush();
    }

    static void sync(DefaultMQProducer producer, String topic, int count) throws Exception {
        say("begun");
        for (int i = 0; i < count; i++) {
            producer.send(new Message(topic, body));
        }
        say("done");
    }

    /** Producers with a connection each send at once; they stay for the next time. */
    static void producers(String nameServer, String topic, int count) throws Exception {
        for (int i = many.size(); i < PRODUCERS; i++) {
            DefaultMQProducer producer = new DefaultMQProducer("bench-java-many");
            producer.setNamesrvAddr(nameServer);
            producer.setInstanceName("producer-" + i);
            producer.setSendMsgTimeout(60_000);
            producer.setMqClientApiTimeout(60_000);
            producer.start();
            producer.send(new Message(topic, body));  // it knows the route, and is connected
            many.add(producer);
        }
        CountDownLatch all = new CountDownLatch(PRODUCERS);
        AtomicInteger failures = new AtomicInteger();
        say("begun");
        for (DefaultMQProducer producer : many) {
            new Thread(() -> {
                try {
                    for (int i = 0; i < count / PRODUCERS; i++) {
                        producer.send(new Message(topic, body));
                    }
                } catch (Exception failure) {
                    failures.incrementAndGet();
                }
                all.countDown();
            }).start();
        }
        all.await();
        say(failures.get() == 0 ? "done" : "failed " + failures);
    }

    static void async(DefaultMQProducer producer, String topic, int count) throws Exception {
        Semaphore room = new Semaphore(IN_FLIGHT);
        AtomicInteger failures = new AtomicInteger();
        SendCallback callback = new SendCallback() {
            @Override
            public void onSuccess(SendResult result) {
                room.release();
            }

            @Override
            public void onException(Throwable failure) {
                failures.incrementAndGet();
                room.release();
            }
        };
        say("begun");
        for (int i = 0; i < count; i++) {
            room.acquire();
            producer.send(new Message(topic, body), callback);
        }
        room.acquire(IN_FLIGHT);
        say(failures.get() == 0 ? "done" : "failed " + failures);
    }

    static void push(String nameServer, String topic, String group, int count) throws Exception {
        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer(group);
        consumer.setNamesrvAddr(nameServer);
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.subscribe(topic, "*");
        AtomicInteger seen = new AtomicInteger();
        CountDownLatch all = new CountDownLatch(1);
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            int before = seen.getAndAdd(messages.size());
            if (before == 0) {
                say("begun");
            }
            if (before < count && before + messages.size() >= count) {
                all.countDown();
            }
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        consumer.start();
        all.await();
        say("done");
        consumer.shutdown();
    }
}
