// SPDX-License-Identifier: Apache-2.0
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.client.producer.SendStatus;
import org.apache.rocketmq.common.message.Message;

/** Writes without pause, and remembers exactly what was acknowledged. */
final class Flood {
    private final DefaultMQProducer producer;
    private final String topic;
    private final List<Thread> threads = new ArrayList<>();
    private final List<Object> acknowledged = new ArrayList<>();
    private final AtomicInteger next = new AtomicInteger();
    private volatile boolean stopped;
    private volatile String failure;

    Flood(DefaultMQProducer producer, String topic) {
        this.producer = producer;
        this.topic = topic;
    }

    void start(int size, int threadCount) {
        for (int at = 0; at < threadCount; at++) {
            Thread thread = new Thread(() -> send(size));
            threads.add(thread);
            thread.start();
        }
    }

    /** Ends at the first failure: the broker is gone then, as the caller wanted. */
    private void send(int size) {
        while (!stopped) {
            int number = next.getAndIncrement();
            String text = number + ":" + "x".repeat(size);
            byte[] body = text.getBytes(StandardCharsets.UTF_8);
            Message message = new Message(topic, "flood", "k" + number, body);
            try {
                SendResult result = producer.send(message);
                if (result.getSendStatus() == SendStatus.SEND_OK) {
                    synchronized (acknowledged) {
                        acknowledged.add(List.of(number, Shape.json(result)));
                    }
                }
            } catch (Exception error) {
                failure = String.valueOf(error.getMessage());
                stopped = true;
            }
        }
    }

    int count() {
        synchronized (acknowledged) {
            return acknowledged.size();
        }
    }

    Object stop() throws InterruptedException {
        stopped = true;
        for (Thread thread : threads) {
            thread.join(20_000);
        }
        Map<String, Object> said = new LinkedHashMap<>();
        said.put("acknowledged", acknowledged);
        said.put("failure", failure);
        return said;
    }
}
