import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import org.apache.rocketmq.acl.common.AclClientRPCHook;
import org.apache.rocketmq.acl.common.SessionCredentials;
import org.apache.rocketmq.client.AccessChannel;
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
import org.apache.rocketmq.client.producer.selector.SelectMessageQueueByHash;
import org.apache.rocketmq.client.utils.MessageUtil;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.remoting.RPCHook;
import org.apache.rocketmq.remoting.protocol.heartbeat.MessageModel;

/**
 * One client at a time with Java's defaults, for test_same_requests.py; the form of requests and answers is that of Peer.java.
 *
 *   KIND SETTING NAMESRV TOPIC GROUP  open a consumer of that kind, or a producer that sends one message of that kind; SETTING
 *                                     is what differs from the defaults
 *   close                             shut it down
 */
public class Requests {
    private static Runnable close = () -> { };

    public static void main(String[] ignored) throws Exception {
        PrintStream answers = System.out;
        System.setOut(System.err);
        System.setProperty("com.rocketmq.recall.default.trace.enable", "true");
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            String[] words = line.split("\t", -1);
            try {
                if (words[0].equals("close")) {
                    close.run();
                } else {
                    open(words[0], words[1], words[2], words[3], words[4]);
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

    private static void configure(ClientConfig client, String setting, String nameServer) {
        client.setNamesrvAddr(nameServer);
        client.setClientIP("127.0.0.1");
        client.setInstanceName("requests");
        client.setHeartbeatBrokerInterval(1000);
        client.setMqClientApiTimeout(60_000);
        System.clearProperty("rocketmq.zone");
        System.clearProperty("rocketmq.zone.mode");
        for (String each : setting.split("\\+")) {
            switch (each) {
                case "namespace":
                    client.setNamespace("NS1");
                    break;
                case "namespace2":
                    client.setNamespaceV2("NS2");
                    break;
                case "stream":
                    client.setEnableStreamRequestType(true);
                    break;
                case "unit":
                    client.setUnitName("unit");
                    client.setUnitMode(true);
                    break;
                case "heartbeat2":
                    client.setUseHeartbeatV2(true);
                    break;
                case "tls":
                    client.setUseTLS(true);
                    break;
                case "zone":
                    System.setProperty("rocketmq.zone", "zone");
                    System.setProperty("rocketmq.zone.mode", "false");
                    break;
                case "cloud":
                    client.setAccessChannel(AccessChannel.CLOUD);
                    client.setEnableTrace(true);
                    break;
                case "trace":
                    client.setEnableTrace(true);
                    break;
                case "tracetopic":
                    client.setEnableTrace(true);
                    client.setTraceTopic("OWN_TRACE");
                    break;
                default:
            }
        }
    }

    private static RPCHook signing(String setting) {
        return setting.contains("acl") ? new AclClientRPCHook(new SessionCredentials("user", "secret", "token")) : null;
    }

    private static void open(String kind, String setting, String nameServer, String topic, String group) throws Exception {
        if (kind.startsWith("lite")) {
            DefaultLitePullConsumer lite = new DefaultLitePullConsumer(group, signing(setting));
            configure(lite, setting, nameServer);
            lite.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
            if (!kind.endsWith("assign")) {
                lite.subscribe(topic, kind.endsWith("sql") ? MessageSelector.bySql("a > 5") : MessageSelector.byTag("*"));
            }
            lite.start();
            close = lite::shutdown;
            if (kind.endsWith("assign")) {
                List<MessageQueue> queues = new ArrayList<>(lite.fetchMessageQueues(topic));
                lite.assign(queues);
                lite.seekToBegin(queues.get(0));
                lite.seekToEnd(queues.get(0));
                lite.offsetForTimestamp(queues.get(0), 1L);
                lite.committed(queues.get(0));
            }
            if (!kind.endsWith("sql")) {
                lite.poll(3000);
                lite.commit();
            }
        } else if (kind.equals("request")) {
            DefaultMQPushConsumer replier = consumer(kind, setting, nameServer, topic, group);
            TransactionMQProducer replies = producer(setting, nameServer, group + "-replies");
            replier.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
                for (MessageExt request : messages) {
                    try {
                        replies.send(MessageUtil.createReplyMessage(request, request.getBody()));
                    } catch (Exception failure) {
                        failure.printStackTrace();
                    }
                }
                return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
            });
            replier.start();
            close = () -> {
                replier.shutdown();
                replies.shutdown();
            };
            Message request = message(topic);
            replies.request(request, 60_000);
        } else if (kind.matches("(push|orderly|broadcast|sql|pop).*")) {
            DefaultMQPushConsumer push = consumer(kind, setting, nameServer, topic, group);
            if (kind.startsWith("orderly")) {
                push.registerMessageListener((MessageListenerOrderly) (messages, context) ->
                    kind.equals("orderly") ? ConsumeOrderlyStatus.SUCCESS : ConsumeOrderlyStatus.SUSPEND_CURRENT_QUEUE_A_MOMENT);
            } else {
                push.registerMessageListener((MessageListenerConcurrently) (messages, context) ->
                    kind.matches(".*-(later|dead)") ? ConsumeConcurrentlyStatus.RECONSUME_LATER : ConsumeConcurrentlyStatus.CONSUME_SUCCESS);
            }
            push.start();
            close = push::shutdown;
        } else {
            TransactionMQProducer producer = producer(setting, nameServer, group);
            close = producer::shutdown;
            send(producer, kind, message(topic));
        }
    }

    private static DefaultMQPushConsumer consumer(String kind, String setting, String nameServer, String topic, String group)
        throws Exception {
        DefaultMQPushConsumer push = new DefaultMQPushConsumer(group, signing(setting));
        configure(push, setting, nameServer);
        push.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        push.subscribe(topic, kind.equals("sql") ? MessageSelector.bySql("a > 5") : MessageSelector.byTag("*"));
        push.setMessageModel(kind.equals("broadcast") ? MessageModel.BROADCASTING : MessageModel.CLUSTERING);
        push.setClientRebalance(!kind.startsWith("pop"));
        if (kind.endsWith("dead")) {
            push.setMaxReconsumeTimes(0);
        }
        return push;
    }

    private static TransactionMQProducer producer(String setting, String nameServer, String group) throws Exception {
        TransactionMQProducer producer = new TransactionMQProducer(group, signing(setting));
        configure(producer, setting, nameServer);
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
        return producer;
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
            case "recall":
                message.setDelayTimeMs(60_000);
                producer.recallMessage(message.getTopic(), producer.send(message).getRecallHandle());
                break;
            case "queue":
                producer.send(message, producer.fetchPublishMessageQueues(message.getTopic()).get(1));
                break;
            case "hash":
                producer.send(message, new SelectMessageQueueByHash(), "order 7");
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
