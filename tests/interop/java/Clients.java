// SPDX-License-Identifier: Apache-2.0
import com.alibaba.fastjson2.JSONArray;
import com.alibaba.fastjson2.JSONObject;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.apache.rocketmq.client.ClientConfig;
import org.apache.rocketmq.client.consumer.DefaultLitePullConsumer;
import org.apache.rocketmq.client.consumer.DefaultMQPullConsumer;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.MessageSelector;
import org.apache.rocketmq.client.impl.consumer.DefaultMQPushConsumerImpl;
import org.apache.rocketmq.client.impl.consumer.RebalanceImpl;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.MessageQueueSelector;
import org.apache.rocketmq.client.producer.SendCallback;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.tools.admin.DefaultMQAdminExt;

/**
 * The open clients, by name. Most of their interface is reached by "call": a public method by name
 * and arguments; only what takes a callback has a command of its own.
 */
final class Clients {
    private static final MessageQueueSelector BY_NUMBER =
        (queues, message, number) -> queues.get((Integer) number % queues.size());

    private final Map<String, Object> open = new ConcurrentHashMap<>();
    private final Map<String, Flood> floods = new ConcurrentHashMap<>();

    /** Makes a client and applies its settings; it is not started yet. */
    Object open(JSONObject ask) throws Exception {
        String group = ask.getString("group");
        ClientConfig client;
        switch (ask.getString("kind")) {
            case "producer": client = new DefaultMQProducer(group); break;
            case "push": client = new DefaultMQPushConsumer(group); break;
            case "pull": client = new DefaultMQPullConsumer(group); break;
            case "lite": client = new DefaultLitePullConsumer(group); break;
            case "admin": client = new DefaultMQAdminExt(); break;
            default: throw new IllegalArgumentException(ask.getString("kind"));
        }
        client.setNamesrvAddr(ask.getString("nameserver"));
        JSONObject settings = ask.getJSONObject("settings");
        for (String name : settings.keySet()) {
            String setter = "set" + Character.toUpperCase(name.charAt(0)) + name.substring(1);
            invoke(client, setter, new JSONArray(List.of(settings.get(name))));
        }
        open.put(ask.getString("name"), client);
        return null;
    }

    Object call(JSONObject ask) throws Exception {
        Object client = open.get(ask.getString("on"));
        return Shape.json(invoke(client, ask.getString("method"), ask.getJSONArray("args")));
    }

    Object close(JSONObject ask) throws Exception {
        return Shape.json(invoke(open.remove(ask.getString("on")), "shutdown", new JSONArray()));
    }

    private static Object invoke(Object client, String name, JSONArray args) throws Exception {
        for (Method method : client.getClass().getMethods()) {
            Class<?>[] types = method.getParameterTypes();
            if (!method.getName().equals(name) || !fit(types, args)) {
                continue;
            }
            Object[] values = new Object[types.length];
            Arrays.setAll(values, at -> Shape.java(types[at], args.get(at)));
            try {
                return method.invoke(client, values);
            } catch (InvocationTargetException error) {
                throw (Exception) error.getCause();
            }
        }
        throw new NoSuchMethodException(name + args);
    }

    private static boolean fit(Class<?>[] types, JSONArray args) {
        if (types.length != args.size()) {
            return false;
        }
        for (int at = 0; at < types.length; at++) {
            if (!Shape.fits(types[at], args.get(at))) {
                return false;
            }
        }
        return true;
    }

    private <T> T named(JSONObject ask, Class<T> type) {
        return type.cast(open.get(ask.getString("on")));
    }

    Object sendAsync(JSONObject ask) throws Exception {
        CompletableFuture<SendResult> sent = new CompletableFuture<>();
        Message message = Shape.message(ask.getJSONObject("message"));
        named(ask, DefaultMQProducer.class).send(message, new SendCallback() {
            @Override
            public void onSuccess(SendResult result) {
                sent.complete(result);
            }

            @Override
            public void onException(Throwable error) {
                sent.completeExceptionally(error);
            }
        });
        try {
            return Shape.json(sent.get(30, TimeUnit.SECONDS));
        } catch (java.util.concurrent.ExecutionException error) {
            throw (Exception) error.getCause();
        }
    }

    Object sendSelected(JSONObject ask) throws Exception {
        Message message = Shape.message(ask.getJSONObject("message"));
        DefaultMQProducer producer = named(ask, DefaultMQProducer.class);
        return Shape.json(producer.send(message, BY_NUMBER, ask.getInteger("number")));
    }

    /** Sends numbered messages from several threads until told to stop. */
    Object flood(JSONObject ask) {
        Flood flood = new Flood(named(ask, DefaultMQProducer.class), ask.getString("topic"));
        flood.start(ask.getIntValue("size"), ask.getIntValue("threads"));
        floods.put(ask.getString("on"), flood);
        return null;
    }

    Object floodCount(JSONObject ask) {
        return floods.get(ask.getString("on")).count();
    }

    Object floodStop(JSONObject ask) throws Exception {
        return floods.remove(ask.getString("on")).stop();
    }

    /** Subscribes, sets the listener and starts a push consumer. */
    Object listen(JSONObject ask) throws Exception {
        DefaultMQPushConsumer consumer = named(ask, DefaultMQPushConsumer.class);
        for (Object item : ask.getJSONArray("subscriptions")) {
            JSONObject subscription = (JSONObject) item;
            String topic = subscription.getString("topic");
            String expression = subscription.getString("expression");
            if (subscription.getBooleanValue("sql")) {
                consumer.subscribe(topic, MessageSelector.bySql(expression));
            } else {
                consumer.subscribe(topic, expression);
            }
        }
        Listener listener = new Listener(ask.getString("on"), ask.getJSONObject("behaviour"));
        if (ask.getBooleanValue("orderly")) {
            consumer.registerMessageListener(listener.orderly());
        } else {
            consumer.registerMessageListener(listener.concurrent());
        }
        consumer.start();
        return null;
    }

    /** The queues a push consumer holds at this moment. */
    Object assigned(JSONObject ask) {
        RebalanceImpl queues = inside(ask).getRebalanceImpl();
        return Shape.json(new ArrayList<>(queues.getProcessQueueTable().keySet()));
    }

    Object persist(JSONObject ask) {
        inside(ask).persistConsumerOffset();
        return null;
    }

    private DefaultMQPushConsumerImpl inside(JSONObject ask) {
        return named(ask, DefaultMQPushConsumer.class).getDefaultMQPushConsumerImpl();
    }
}
