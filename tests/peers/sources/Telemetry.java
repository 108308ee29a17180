import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.baggage.propagation.W3CBaggagePropagator;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Scope;
import io.opentelemetry.context.propagation.ContextPropagators;
import io.opentelemetry.context.propagation.TextMapPropagator;
import io.opentelemetry.instrumentation.rocketmqclient.v4_8.RocketMqTelemetry;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;

/**
 * A producer and consumers with OpenTelemetry's own instrumentation; lines in and out are those of Peer.java.
 *
 *   send NAMESRV TOPIC GROUP BODY   send a message within a span "order"   -> nothing
 *   consume NAMESRV TOPIC GROUP     start a push consumer                  -> nothing
 *   spans COUNT MILLIS              wait for so many spans that have ended -> one word per span, by lines: its name, kind, trace id,
 *                                   span id and parent's span id, then its attributes as NAME=VALUE
 *   close                           shut all producers and consumers down, and forget the spans    -> nothing
 */
public class Telemetry {
    private static final int PATIENCE = 60_000;

    private final InMemorySpanExporter spans = InMemorySpanExporter.create();
    private final OpenTelemetry sdk = OpenTelemetrySdk.builder()
        .setTracerProvider(SdkTracerProvider.builder().addSpanProcessor(SimpleSpanProcessor.create(spans)).build())
        .setPropagators(ContextPropagators.create(TextMapPropagator.composite(
            W3CTraceContextPropagator.getInstance(), W3CBaggagePropagator.getInstance())))
        .build();
    private final RocketMqTelemetry instrumentation = RocketMqTelemetry.create(sdk);
    private final Map<String, DefaultMQProducer> producers = new HashMap<>();
    private final List<DefaultMQPushConsumer> consumers = new ArrayList<>();

    public static void main(String[] ignored) throws Exception {
        PrintStream answers = System.out;
        System.setOut(System.err);
        Telemetry telemetry = new Telemetry();
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            String[] words = line.split("\t", -1);
            StringBuilder answer = new StringBuilder();
            try {
                List<String> result = telemetry.perform(words[0], Arrays.copyOfRange(words, 1, words.length));
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

    private List<String> perform(String verb, String[] words) throws Exception {
        switch (verb) {
            case "send":
                send(producer(words[0], words[2]), new Message(words[1], "red", "k1 k2", words[3].getBytes(StandardCharsets.UTF_8)));
                return List.of();
            case "consume":
                consume(words[0], words[1], words[2]);
                return List.of();
            case "spans":
                return spans(Integer.parseInt(words[0]), Long.parseLong(words[1]));
            case "close":
                producers.values().forEach(DefaultMQProducer::shutdown);
                producers.clear();
                consumers.forEach(DefaultMQPushConsumer::shutdown);
                consumers.clear();
                spans.reset();
                return List.of();
            default:
                throw new IllegalArgumentException("no such request: " + verb);
        }
    }

    private DefaultMQProducer producer(String nameServer, String group) throws Exception {
        DefaultMQProducer known = producers.get(group);
        if (known != null) {
            return known;
        }
        DefaultMQProducer producer = new DefaultMQProducer(group);
        producer.setNamesrvAddr(nameServer);
        producer.setInstanceName(group);
        producer.setSendMsgTimeout(PATIENCE);
        producer.getDefaultMQProducerImpl().registerSendMessageHook(instrumentation.newTracingSendMessageHook());
        producer.start();
        producers.put(group, producer);
        return producer;
    }

    private void send(DefaultMQProducer producer, Message message) throws Exception {
        Span order = sdk.getTracer("application").spanBuilder("order").startSpan();
        try (Scope current = order.makeCurrent()) {
            producer.send(message);
        } finally {
            order.end();
        }
    }

    private void consume(String nameServer, String topic, String group) throws Exception {
        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer(group);
        consumer.setNamesrvAddr(nameServer);
        consumer.setInstanceName(group);
        consumer.setPollNameServerInterval(1000);
        consumer.setHeartbeatBrokerInterval(1000);
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.subscribe(topic, "*");
        consumer.getDefaultMQPushConsumerImpl().registerConsumeMessageHook(instrumentation.newTracingConsumeMessageHook());
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> ConsumeConcurrentlyStatus.CONSUME_SUCCESS);
        consumer.start();
        consumers.add(consumer);
    }

    private List<String> spans(int count, long millis) throws InterruptedException {
        long deadline = System.nanoTime() + millis * 1_000_000;
        while (spans.getFinishedSpanItems().size() < count && System.nanoTime() < deadline) {
            Thread.sleep(20);
        }
        List<String> ended = new ArrayList<>();
        for (SpanData span : spans.getFinishedSpanItems()) {
            List<String> lines = new ArrayList<>(List.of(
                span.getName(), span.getKind().name(), span.getTraceId(), span.getSpanId(), span.getParentSpanId()));
            span.getAttributes().forEach((name, value) -> lines.add(name.getKey() + "=" + value));
            ended.add(String.join("\n", lines));
        }
        return ended;
    }
}
