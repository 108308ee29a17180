// Java's pull client for bench/spark: PullBench NAMESRV TOPIC; each line "all" on stdin pulls the topic once by offset
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.rocketmq.client.consumer.DefaultMQPullConsumer;
import org.apache.rocketmq.client.consumer.PullResult;
import org.apache.rocketmq.client.consumer.PullStatus;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;

public class PullBench {
    public static void main(String[] words) throws Exception {
        DefaultMQPullConsumer consumer = new DefaultMQPullConsumer("bench-java-pull");
        consumer.setNamesrvAddr(words[0]);
        consumer.setMqClientApiTimeout(60_000);  // a slow moment of the machine is not the client's
        consumer.start();
        com.sun.management.OperatingSystemMXBean system =
            (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("ready");
        System.out.flush();
        while (in.readLine() != null) {
            long cpu = system.getProcessCpuTime();
            AtomicLong bytes = new AtomicLong();
            AtomicLong messages = new AtomicLong();
            List<Thread> threads = new ArrayList<>();
            for (MessageQueue queue : consumer.fetchSubscribeMessageQueues(words[1])) {
                Thread thread = new Thread(() -> pull(consumer, queue, messages, bytes));
                threads.add(thread);
                thread.start();
            }
            for (Thread thread : threads) {
                thread.join();
            }
            System.out.println(messages + " " + bytes + " " + (system.getProcessCpuTime() - cpu));
            System.out.flush();
        }
        Runtime.getRuntime().halt(0);
    }

    static void pull(DefaultMQPullConsumer consumer, MessageQueue queue, AtomicLong messages, AtomicLong bytes) {
        try {
            long offset = consumer.minOffset(queue);
            long end = consumer.maxOffset(queue);
            while (offset < end) {
                PullResult result = consumer.pull(queue, "*", offset, 32, 30_000);
                if (result.getPullStatus() == PullStatus.FOUND) {
                    for (MessageExt message : result.getMsgFoundList()) {
                        bytes.addAndGet(message.getBody().length);
                    }
                    messages.addAndGet(result.getMsgFoundList().size());
                }
                offset = result.getNextBeginOffset();
            }
        } catch (Exception error) {
            throw new IllegalStateException(error);
        }
    }
}
