package org.apache.rocketmq.test.base;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import org.apache.rocketmq.broker.BrokerController;
import org.apache.rocketmq.client.producer.TransactionListener;
import org.apache.rocketmq.common.BrokerConfig;
import org.apache.rocketmq.common.attribute.CQType;
import org.apache.rocketmq.common.attribute.TopicMessageType;
import org.apache.rocketmq.namesrv.NamesrvController;
import org.apache.rocketmq.remoting.netty.NettyClientConfig;
import org.apache.rocketmq.remoting.netty.NettyServerConfig;
import org.apache.rocketmq.remoting.protocol.subscription.SubscriptionGroupConfig;
import org.apache.rocketmq.store.config.MessageStoreConfig;
import org.apache.rocketmq.test.client.rmq.RMQAsyncSendProducer;
import org.apache.rocketmq.test.client.rmq.RMQNormalConsumer;
import org.apache.rocketmq.test.client.rmq.RMQNormalProducer;
import org.apache.rocketmq.test.client.rmq.RMQTransactionalProducer;
import org.apache.rocketmq.test.clientinterface.AbstractMQConsumer;
import org.apache.rocketmq.test.clientinterface.AbstractMQProducer;
import org.apache.rocketmq.test.factory.ConsumerFactory;
import org.apache.rocketmq.test.listener.AbstractListener;
import org.apache.rocketmq.test.util.MQAdminTestUtils;
import org.apache.rocketmq.test.util.MQRandomUtils;
import org.apache.rocketmq.tools.admin.DefaultMQAdminExt;

/**
 * Stands in for the class of the same name in RocketMQ's integration tests, so that they run at servers that run already.
 * System properties name these: {@code judge.namesrv} is the address of the name server, {@code judge.brokers} lists the
 * brokers as {@code name=host:port,...}.  A controller here carries a broker's name and address and nothing else.
 */
public class BaseConf {
    public static final String NAMESRV_ADDR = System.getProperty("judge.namesrv");
    private static final List<BrokerController> BROKERS = brokers(System.getProperty("judge.brokers"));
    protected static final String CLUSTER_NAME = System.getProperty("judge.cluster", "DefaultCluster");
    protected static final String BROKER1_NAME = name(0);
    protected static final String BROKER2_NAME = name(1);
    protected static final String BROKER3_NAME = name(2);
    protected static final int BROKER_NUM = BROKERS.size();
    protected static final int WAIT_TIME = 5;
    protected static final int CONSUME_TIME = 2 * 60 * 1000;
    protected static final int QUEUE_NUMBERS = 8;
    protected static NamesrvController namesrvController;
    protected static BrokerController brokerController1 = controller(0);
    protected static BrokerController brokerController2 = controller(1);
    protected static BrokerController brokerController3 = controller(2);
    protected static List<BrokerController> brokerControllerList = BROKERS;
    protected static Map<String, BrokerController> brokerControllerMap = new TreeMap<>();
    protected static List<Object> mqClients = new ArrayList<>();
    protected static boolean debug = false;

    static {
        try {
            MQAdminTestUtils.startAdmin(NAMESRV_ADDR);
        } catch (Exception failure) {
            throw new IllegalStateException(failure);
        }
        for (BrokerController broker : BROKERS) {
            brokerControllerMap.put(broker.getBrokerConfig().getBrokerName(), broker);
        }
    }

    private static List<BrokerController> brokers(String listed) {
        List<BrokerController> controllers = new ArrayList<>();
        for (String entry : listed.split(",")) {
            String name = entry.substring(0, entry.indexOf('='));
            String host = entry.substring(entry.indexOf('=') + 1, entry.lastIndexOf(':'));
            int port = Integer.parseInt(entry.substring(entry.lastIndexOf(':') + 1));
            BrokerConfig config = new BrokerConfig();
            config.setBrokerName(name);
            config.setBrokerIP1(host);
            config.setListenPort(port);
            config.setNamesrvAddr(NAMESRV_ADDR);
            NettyServerConfig server = new NettyServerConfig();
            server.setListenPort(port);
            MessageStoreConfig store = new MessageStoreConfig();
            store.setStorePathRootDir("stub-" + name);
            controllers.add(new BrokerController(config, server, new NettyClientConfig(), store));
        }
        return controllers;
    }

    private static BrokerController controller(int number) {
        return number < BROKERS.size() ? BROKERS.get(number) : null;
    }

    private static String name(int number) {
        BrokerController broker = controller(number);
        return broker == null ? "broker" + (number + 1) : broker.getBrokerConfig().getBrokerName();
    }

    public BaseConf() {
    }

    public static void waitBrokerRegistered(String namesrv, String cluster, int count) {
        // The servers run already.
    }

    public boolean awaitDispatchMs(long milliseconds) throws Exception {
        Thread.sleep(Math.min(milliseconds, 500));
        return true;
    }

    public static String initTopic() {
        return initTopicWithName(MQRandomUtils.getRandomTopic());
    }

    public static String initTopic(TopicMessageType type) {
        return initTopicWithName(MQRandomUtils.getRandomTopic(), type);
    }

    public static String initTopicWithName(String topic) {
        return initTopicWithName(topic, TopicMessageType.NORMAL);
    }

    public static String initTopicWithName(String topic, TopicMessageType type) {
        IntegrationTestBase.initTopic(topic, NAMESRV_ADDR, CLUSTER_NAME, QUEUE_NUMBERS, CQType.SimpleCQ, type);
        return topic;
    }

    public static String initTopicOnSampleTopicBroker(String sampleTopic) {
        return initTopicOnSampleTopicBroker(sampleTopic, TopicMessageType.NORMAL);
    }

    public static String initTopicOnSampleTopicBroker(String sampleTopic, TopicMessageType type) {
        return initTopicOnSampleTopicBroker(MQRandomUtils.getRandomTopic(), sampleTopic, type);
    }

    public static String initTopicOnSampleTopicBroker(String topic, String sampleTopic) {
        return initTopicOnSampleTopicBroker(topic, sampleTopic, TopicMessageType.NORMAL);
    }

    public static String initTopicOnSampleTopicBroker(String topic, String sampleTopic, TopicMessageType type) {
        IntegrationTestBase.initTopic(topic, NAMESRV_ADDR, sampleTopic, type);
        return topic;
    }

    public static String initConsumerGroup() {
        return initConsumerGroup(MQRandomUtils.getRandomConsumerGroup());
    }

    public static String initConsumerGroup(String group) {
        SubscriptionGroupConfig config = new SubscriptionGroupConfig();
        config.setGroupName(group);
        return initConsumerGroup(config);
    }

    public static String initConsumerGroup(SubscriptionGroupConfig config) {
        MQAdminTestUtils.createSub(NAMESRV_ADDR, CLUSTER_NAME, config);
        return config.getGroupName();
    }

    public static DefaultMQAdminExt getAdmin(String namesrv) {
        DefaultMQAdminExt admin = new DefaultMQAdminExt(3000);
        admin.setNamesrvAddr(namesrv);
        admin.setInstanceName(UUID.randomUUID().toString());
        mqClients.add(admin);
        return admin;
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
        shutdown(mqClients);
    }

    public static Set<String> getBrokers() {
        return new TreeSet<>(brokerControllerMap.keySet());
    }

    public static void shutdown(List<Object> clients) {
        for (Object client : clients) {
            Thread closing = new Thread(() -> close(client));
            closing.setDaemon(true);
            closing.start();
        }
        clients.clear();
    }

    private static void close(Object client) {
        if (client instanceof AbstractMQProducer) {
            ((AbstractMQProducer) client).shutdown();
        } else if (client instanceof AbstractMQConsumer) {
            ((AbstractMQConsumer) client).shutdown();
        } else if (client instanceof DefaultMQAdminExt) {
            ((DefaultMQAdminExt) client).shutdown();
        }
    }
}
