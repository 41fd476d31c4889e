// SPDX-License-Identifier: Apache-2.0
import com.alibaba.fastjson2.JSON;
import com.alibaba.fastjson2.JSONArray;
import com.alibaba.fastjson2.JSONObject;
import com.alibaba.fastjson2.JSONWriter;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.rocketmq.client.QueryResult;
import org.apache.rocketmq.client.consumer.MessageSelector;
import org.apache.rocketmq.client.consumer.PullResult;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageClientExt;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;

/** JSON to the objects of the client's interface, and back. */
final class Shape {
    private Shape() {}

    // ---- JSON to Java ----

    static boolean fits(Class<?> type, Object json) {
        if (json == null) {
            return !type.isPrimitive();
        }
        if (type == String.class) {
            return json instanceof String;
        }
        if (type == boolean.class || type == Boolean.class) {
            return json instanceof Boolean;
        }
        if (type == int.class || type == long.class || Number.class.isAssignableFrom(type)) {
            return json instanceof Number;
        }
        if (Collection.class.isAssignableFrom(type)) {
            return json instanceof JSONArray;
        }
        if (!(json instanceof JSONObject)) {
            return type.isEnum() && json instanceof String;
        }
        JSONObject object = (JSONObject) json;
        if (type == Message.class) {
            return object.containsKey("body");
        }
        if (type == MessageQueue.class) {
            return object.containsKey("queueId") && !object.containsKey("body");
        }
        if (type == MessageSelector.class) {
            return object.containsKey("sql");
        }
        if (type == Map.class) {
            return object.containsKey("pairs");
        }
        return type.getSimpleName().endsWith("Config");
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    static Object java(Class<?> type, Object json) {
        if (type == int.class || type == Integer.class) {
            return ((Number) json).intValue();
        }
        if (type == long.class || type == Long.class) {
            return ((Number) json).longValue();
        }
        if (type.isEnum()) {
            return Enum.valueOf((Class<? extends Enum>) type, (String) json);
        }
        if (json instanceof JSONArray) {
            boolean set = Set.class.isAssignableFrom(type);
            Collection<Object> items = set ? new HashSet<>() : new ArrayList<>();
            for (Object item : (JSONArray) json) {
                items.add(item instanceof JSONObject ? thing((JSONObject) item) : item);
            }
            return items;
        }
        if (json instanceof JSONObject && type.getSimpleName().endsWith("Config")) {
            return ((JSONObject) json).toJavaObject(type);
        }
        return json instanceof JSONObject ? thing((JSONObject) json) : json;
    }

    private static Object thing(JSONObject json) {
        if (json.containsKey("body")) {
            return message(json);
        }
        if (json.containsKey("sql")) {
            return MessageSelector.bySql(json.getString("sql"));
        }
        if (json.containsKey("pairs")) {
            Map<Object, Object> map = new HashMap<>();
            for (Object pair : json.getJSONArray("pairs")) {
                map.put(thing(((JSONArray) pair).getJSONObject(0)), ((JSONArray) pair).getLong(1));
            }
            return map;
        }
        return queue(json);
    }

    static MessageQueue queue(JSONObject json) {
        int queueId = json.getIntValue("queueId");
        return new MessageQueue(json.getString("topic"), json.getString("broker"), queueId);
    }

    static Message message(JSONObject json) {
        byte[] body = Base64.getDecoder().decode(json.getString("body"));
        Message message = new Message(json.getString("topic"), body);
        if (json.getString("tag") != null) {
            message.setTags(json.getString("tag"));
        }
        if (json.getString("keys") != null) {
            message.setKeys(json.getString("keys"));
        }
        message.setFlag(json.getIntValue("flag"));
        if (json.getIntValue("delayLevel") != 0) {
            message.setDelayTimeLevel(json.getIntValue("delayLevel"));
        }
        message.setWaitStoreMsgOK(json.getBooleanValue("wait", true));
        JSONObject properties = json.getJSONObject("properties");
        for (String name : properties == null ? Set.<String>of() : properties.keySet()) {
            message.putUserProperty(name, properties.getString(name));
        }
        return message;
    }

    // ---- Java to JSON ----

    static Object json(Object value) {
        if (value == null || value instanceof String || value instanceof Number) {
            return value;
        }
        if (value instanceof Boolean) {
            return value;
        }
        if (value instanceof Enum) {
            return ((Enum<?>) value).name();
        }
        if (value instanceof Collection) {
            List<Object> items = new ArrayList<>();
            ((Collection<?>) value).forEach(item -> items.add(json(item)));
            return items;
        }
        if (value instanceof Map) {
            List<Object> pairs = new ArrayList<>();
            ((Map<?, ?>) value).forEach((key, item) -> pairs.add(List.of(json(key), json(item))));
            return pairs;
        }
        if (value instanceof MessageQueue) {
            return queue((MessageQueue) value);
        }
        if (value instanceof SendResult) {
            return sent((SendResult) value);
        }
        if (value instanceof PullResult) {
            return pulled((PullResult) value);
        }
        if (value instanceof QueryResult) {
            return json(((QueryResult) value).getMessageList());
        }
        if (value instanceof MessageExt) {
            return message((MessageExt) value);
        }
        return JSON.parse(JSON.toJSONString(value, JSONWriter.Feature.WriteNonStringKeyAsString));
    }

    private static Object queue(MessageQueue queue) {
        Map<String, Object> said = new LinkedHashMap<>();
        said.put("topic", queue.getTopic());
        said.put("broker", queue.getBrokerName());
        said.put("queueId", queue.getQueueId());
        return said;
    }

    private static Object sent(SendResult result) {
        Map<String, Object> said = new LinkedHashMap<>();
        said.put("status", result.getSendStatus().name());
        said.put("msgId", result.getMsgId());
        said.put("offsetMsgId", result.getOffsetMsgId());
        said.put("queue", json(result.getMessageQueue()));
        said.put("queueOffset", result.getQueueOffset());
        said.put("transactionId", result.getTransactionId());
        said.put("region", result.getRegionId());
        return said;
    }

    private static Object pulled(PullResult result) {
        Map<String, Object> said = new LinkedHashMap<>();
        said.put("status", result.getPullStatus().name());
        said.put("next", result.getNextBeginOffset());
        said.put("min", result.getMinOffset());
        said.put("max", result.getMaxOffset());
        List<MessageExt> found = result.getMsgFoundList();
        said.put("messages", json(found == null ? List.of() : found));
        return said;
    }

    static Map<String, Object> message(MessageExt message) {
        Map<String, Object> said = new LinkedHashMap<>();
        said.put("topic", message.getTopic());
        said.put("broker", message.getBrokerName());
        said.put("queueId", message.getQueueId());
        said.put("queueOffset", message.getQueueOffset());
        said.put("logOffset", message.getCommitLogOffset());
        said.put("msgId", message.getMsgId());
        boolean ofClient = message instanceof MessageClientExt;
        said.put("offsetMsgId", ofClient ? ((MessageClientExt) message).getOffsetMsgId() : null);
        byte[] body = message.getBody() == null ? new byte[0] : message.getBody();
        said.put("body", Base64.getEncoder().encodeToString(body));
        said.put("bodyCrc", message.getBodyCRC());
        said.put("tag", message.getTags());
        said.put("keys", message.getKeys());
        said.put("properties", new HashMap<>(message.getProperties()));
        said.put("flag", message.getFlag());
        said.put("sysFlag", message.getSysFlag());
        said.put("storeSize", message.getStoreSize());
        said.put("retries", message.getReconsumeTimes());
        said.put("bornMs", message.getBornTimestamp());
        said.put("storedMs", message.getStoreTimestamp());
        said.put("bornHost", address(message.getBornHost()));
        said.put("storeHost", address(message.getStoreHost()));
        return said;
    }

    private static String address(SocketAddress address) {
        InetSocketAddress inet = (InetSocketAddress) address;
        return inet == null ? null : inet.getAddress().getHostAddress() + ":" + inet.getPort();
    }
}
