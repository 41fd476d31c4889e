// SPDX-License-Identifier: Apache-2.0
import com.alibaba.fastjson2.JSONObject;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.ConsumeOrderlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.consumer.listener.MessageListenerOrderly;
import org.apache.rocketmq.common.message.MessageExt;

/**
 * Reports every message and fails those it was told to fail: bodies that start with failPrefix, as
 * long as their retry count is below failTimes.
 */
final class Listener {
    private final String name;
    private final String failPrefix;
    private final int failTimes;
    private final int delayLevel;
    private final long pauseMs;
    private final long suspendMs;

    Listener(String name, JSONObject behaviour) {
        this.name = name;
        this.failPrefix = behaviour.getString("failPrefix");
        this.failTimes = behaviour.getIntValue("failTimes");
        this.delayLevel = behaviour.getIntValue("delayLevel");
        this.pauseMs = behaviour.getLongValue("pauseMs");
        this.suspendMs = behaviour.getLongValue("suspendMs");
    }

    MessageListenerConcurrently concurrent() {
        return (messages, context) -> {
            boolean done = true;
            for (MessageExt message : messages) {
                done &= accept(message);
            }
            context.setDelayLevelWhenNextConsume(delayLevel);
            return done
                ? ConsumeConcurrentlyStatus.CONSUME_SUCCESS
                : ConsumeConcurrentlyStatus.RECONSUME_LATER;
        };
    }

    MessageListenerOrderly orderly() {
        return (messages, context) -> {
            boolean done = true;
            for (MessageExt message : messages) {
                done &= accept(message);
            }
            context.setSuspendCurrentQueueTimeMillis(suspendMs);
            return done
                ? ConsumeOrderlyStatus.SUCCESS
                : ConsumeOrderlyStatus.SUSPEND_CURRENT_QUEUE_A_MOMENT;
        };
    }

    private boolean accept(MessageExt message) {
        String body = new String(message.getBody(), StandardCharsets.UTF_8);
        boolean fails = failPrefix != null
            && body.startsWith(failPrefix)
            && message.getReconsumeTimes() < failTimes;
        Map<String, Object> said = Shape.message(message);
        said.put("thread", Thread.currentThread().getName());
        said.put("done", !fails);
        Map<String, Object> line = new LinkedHashMap<>();
        line.put("event", name);
        line.put("message", said);
        Driver.write(line);
        if (pauseMs > 0) {
            try {
                Thread.sleep(pauseMs);
            } catch (InterruptedException error) {
                Thread.currentThread().interrupt();
            }
        }
        return !fails;
    }
}
