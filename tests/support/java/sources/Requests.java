import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import org.apache.rocketmq.client.ClientConfig;
import org.apache.rocketmq.client.consumer.DefaultLitePullConsumer;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.MessageSelector;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.ConsumeOrderlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.consumer.listener.MessageListenerOrderly;
import org.apache.rocketmq.client.producer.LocalTransactionState;
import org.apache.rocketmq.client.producer.TransactionListener;
import org.apache.rocketmq.client.producer.TransactionMQProducer;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.remoting.protocol.heartbeat.MessageModel;

/**
 * One client at a time with Java's defaults, for test_same_requests.py; the form of requests and answers is that of Peer.java.
 *
 *   KIND NAMESRV TOPIC GROUP  open a consumer of that kind, or a producer that sends one message of that kind
 *   close                     shut it down
 */
public class Requests {
    private static Runnable close = () -> { };

    public static void main(String[] ignored) throws Exception {
        PrintStream answers = System.out;
        System.setOut(System.err);
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            String[] words = line.split("\t", -1);
            try {
                if (words[0].equals("close")) {
                    close.run();
                } else {
                    open(words[0], words[1], words[2], words[3]);
                }
                answers.println("+");
            } catch (Throwable failure) {
                failure.printStackTrace();
                answers.println("-\t" + Base64.getEncoder().encodeToString(failure.toString().getBytes(StandardCharsets.UTF_8)));
            }
            answers.flush();
        }
        Runtime.getRuntime().halt(0);
    }

    private static void configure(ClientConfig client, String nameServer) {
        client.setNamesrvAddr(nameServer);
        client.setClientIP("127.0.0.1");
        client.setInstanceName("requests");
        client.setHeartbeatBrokerInterval(1000);
        client.setMqClientApiTimeout(60_000);
    }

    private static void open(String kind, String nameServer, String topic, String group) throws Exception {
        if (kind.startsWith("lite")) {
            DefaultLitePullConsumer lite = new DefaultLitePullConsumer(group);
            configure(lite, nameServer);
            lite.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
            lite.subscribe(topic, kind.endsWith("sql") ? MessageSelector.bySql("a > 5") : MessageSelector.byTag("*"));
            lite.start();
            close = lite::shutdown;
        } else if (List.of("push", "orderly", "broadcast", "sql", "pop").contains(kind)) {
            DefaultMQPushConsumer push = new DefaultMQPushConsumer(group);
            configure(push, nameServer);
            push.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
            push.subscribe(topic, kind.equals("sql") ? MessageSelector.bySql("a > 5") : MessageSelector.byTag("*"));
            push.setMessageModel(kind.equals("broadcast") ? MessageModel.BROADCASTING : MessageModel.CLUSTERING);
            push.setClientRebalance(!kind.equals("pop"));
            if (kind.equals("orderly")) {
                push.registerMessageListener((MessageListenerOrderly) (messages, context) -> ConsumeOrderlyStatus.SUCCESS);
            } else {
                push.registerMessageListener((MessageListenerConcurrently) (messages, context) -> ConsumeConcurrentlyStatus.CONSUME_SUCCESS);
            }
            push.start();
            close = push::shutdown;
        } else {
            TransactionMQProducer producer = new TransactionMQProducer(group);
            configure(producer, nameServer);
            producer.setSendMsgTimeout(60_000);
            producer.setTransactionListener(new TransactionListener() {
                @Override
                public LocalTransactionState executeLocalTransaction(Message message, Object kind) {
                    return kind.equals("check") ? LocalTransactionState.UNKNOW
                        : kind.equals("commit") ? LocalTransactionState.COMMIT_MESSAGE : LocalTransactionState.ROLLBACK_MESSAGE;
                }

                @Override
                public LocalTransactionState checkLocalTransaction(MessageExt message) {
                    return LocalTransactionState.COMMIT_MESSAGE;
                }
            });
            producer.start();
            close = producer::shutdown;
            send(producer, kind, message(topic));
        }
    }

    private static Message message(String topic) {
        Message message = new Message(topic, "tag", "key", "body".getBytes(StandardCharsets.UTF_8));
        message.putUserProperty("a", "6");
        return message;
    }

    private static void send(TransactionMQProducer producer, String kind, Message message) throws Exception {
        switch (kind) {
            case "send":
                producer.send(message);
                break;
            case "oneway":
                producer.sendOneway(message);
                break;
            case "level":
                message.setDelayTimeLevel(1);
                producer.send(message);
                break;
            case "timer":
                message.setDelayTimeMs(1000);
                producer.send(message);
                break;
            case "batch":
                producer.send(Arrays.asList(message, message(message.getTopic())));
                break;
            case "compressed":
                message.setBody(new byte[5000]);
                producer.send(message);
                break;
            default:
                producer.sendMessageInTransaction(message, kind);
        }
    }
}
