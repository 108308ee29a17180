package org.apache.rocketmq.test.base;

import java.util.ArrayList;
import java.util.List;
import org.apache.rocketmq.broker.BrokerController;
import org.apache.rocketmq.client.producer.TransactionListener;
import org.apache.rocketmq.namesrv.NamesrvController;
import org.apache.rocketmq.test.client.rmq.RMQAsyncSendProducer;
import org.apache.rocketmq.test.client.rmq.RMQNormalConsumer;
import org.apache.rocketmq.test.client.rmq.RMQNormalProducer;
import org.apache.rocketmq.test.client.rmq.RMQTransactionalProducer;
import org.apache.rocketmq.test.clientinterface.AbstractMQConsumer;
import org.apache.rocketmq.test.clientinterface.AbstractMQProducer;
import org.apache.rocketmq.test.factory.ConsumerFactory;
import org.apache.rocketmq.test.listener.AbstractListener;
import org.apache.rocketmq.test.util.MQAdmin;
import org.apache.rocketmq.test.util.MQRandomUtils;

/**
 * Stands in for the class of the same name in the integration tests of 4.9.4, so that they run at servers that run already:
 * see the class of 5.x beside this one.  Tests of 4.9.4 do not look at controllers.
 */
public class BaseConf {
    public static String nsAddr = System.getProperty("judge.namesrv");
    private static final String[] BROKERS = System.getProperty("judge.brokers").split(",");
    protected static String broker1Name = name(0);
    protected static String broker2Name = name(1);
    protected static String clusterName = System.getProperty("judge.cluster", "DefaultCluster");
    protected static int brokerNum = BROKERS.length;
    protected static int waitTime = 5;
    protected static int consumeTime = 2 * 60 * 1000;
    protected static NamesrvController namesrvController;
    protected static BrokerController brokerController1;
    protected static BrokerController brokerController2;
    protected static List<Object> mqClients = new ArrayList<>();
    protected static boolean debug = false;

    private static String name(int number) {
        return number < BROKERS.length ? BROKERS[number].split("=")[0] : "broker" + (number + 1);
    }

    public BaseConf() {
    }

    public static String initTopic() {
        return initTopicWithName(MQRandomUtils.getRandomTopic());
    }

    public static String initTopicWithName(String topic) {
        IntegrationTestBase.initTopic(topic, nsAddr, clusterName);
        return topic;
    }

    public static String initConsumerGroup() {
        return initConsumerGroup(MQRandomUtils.getRandomConsumerGroup());
    }

    public static String initConsumerGroup(String group) {
        MQAdmin.createSub(nsAddr, clusterName, group);
        return group;
    }

    private static <T extends AbstractMQProducer> T opened(T producer) {
        if (debug) {
            producer.setDebug();
        }
        mqClients.add(producer);
        return producer;
    }

    public static RMQNormalProducer getProducer(String namesrv, String topic) {
        return getProducer(namesrv, topic, false);
    }

    public static RMQNormalProducer getProducer(String namesrv, String topic, boolean tls) {
        return opened(new RMQNormalProducer(namesrv, topic, tls));
    }

    public static RMQNormalProducer getProducer(String namesrv, String topic, String group, String instance) {
        return opened(new RMQNormalProducer(namesrv, topic, group, instance));
    }

    public static RMQTransactionalProducer getTransactionalProducer(
            String namesrv, String topic, TransactionListener listener) {
        return opened(new RMQTransactionalProducer(namesrv, topic, false, listener));
    }

    public static RMQAsyncSendProducer getAsyncProducer(String namesrv, String topic) {
        return opened(new RMQAsyncSendProducer(namesrv, topic));
    }

    public static RMQNormalConsumer getConsumer(
            String namesrv, String topic, String expression, AbstractListener listener) {
        return getConsumer(namesrv, topic, expression, listener, false);
    }

    public static RMQNormalConsumer getConsumer(
            String namesrv, String topic, String expression, AbstractListener listener, boolean tls) {
        return getConsumer(namesrv, initConsumerGroup(), topic, expression, listener, tls);
    }

    public static RMQNormalConsumer getConsumer(
            String namesrv, String group, String topic, String expression, AbstractListener listener) {
        return getConsumer(namesrv, group, topic, expression, listener, false);
    }

    public static RMQNormalConsumer getConsumer(
            String namesrv, String group, String topic, String expression, AbstractListener listener, boolean tls) {
        RMQNormalConsumer consumer =
                ConsumerFactory.getRMQNormalConsumer(namesrv, group, topic, expression, listener, tls);
        if (debug) {
            consumer.setDebug();
        }
        mqClients.add(consumer);
        return consumer;
    }

    public static void shutdown() {
        for (Object client : mqClients) {
            Thread closing = new Thread(() -> close(client));
            closing.setDaemon(true);
            closing.start();
        }
        mqClients.clear();
    }

    private static void close(Object client) {
        if (client instanceof AbstractMQProducer) {
            ((AbstractMQProducer) client).shutdown();
        } else if (client instanceof AbstractMQConsumer) {
            ((AbstractMQConsumer) client).shutdown();
        }
    }
}
