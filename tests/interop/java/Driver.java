// SPDX-License-Identifier: Apache-2.0
import com.alibaba.fastjson2.JSON;
import com.alibaba.fastjson2.JSONObject;
import com.alibaba.fastjson2.JSONWriter;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.rocketmq.client.exception.MQBrokerException;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.common.MQVersion;
import org.apache.rocketmq.tools.command.MQAdminStartup;

/**
 * The stock clients, played by line: one JSON object per line in, one per line out.
 *
 * <p>In {"id": 7, "do": "call", ...}, out {"id": 7, "answer": ...} or {"id": 7, "error": {...}}.
 * Every line is worked on its own thread, so a command may block. What a push consumer receives
 * leaves as {"event": NAME, "message": {...}}. The process ends when its input does.
 */
public final class Driver {
    interface Command {
        Object run(JSONObject ask) throws Exception;
    }

    private static final PrintStream WIRE =
        new PrintStream(new FileOutputStream(FileDescriptor.out), false);
    private static final Map<String, Command> COMMANDS = new HashMap<>();

    public static void main(String[] args) throws Exception {
        System.setOut(System.err); // Whatever a client prints must not fall between our lines.
        Clients clients = new Clients();
        COMMANDS.put("about", Driver::about);
        COMMANDS.put("mqadmin", Driver::mqadmin);
        COMMANDS.put("open", clients::open);
        COMMANDS.put("call", clients::call);
        COMMANDS.put("close", clients::close);
        COMMANDS.put("sendAsync", clients::sendAsync);
        COMMANDS.put("sendSelected", clients::sendSelected);
        COMMANDS.put("flood", clients::flood);
        COMMANDS.put("floodCount", clients::floodCount);
        COMMANDS.put("floodStop", clients::floodStop);
        COMMANDS.put("listen", clients::listen);
        COMMANDS.put("assigned", clients::assigned);
        COMMANDS.put("persist", clients::persist);
        COMMANDS.put("remote", new Remote()::call);

        ExecutorService threads = Executors.newCachedThreadPool();
        BufferedReader lines =
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            JSONObject ask = JSON.parseObject(line);
            threads.execute(() -> answer(ask));
        }
        Runtime.getRuntime().halt(0);
    }

    private static void answer(JSONObject ask) {
        Map<String, Object> line = new LinkedHashMap<>();
        line.put("id", ask.getLong("id"));
        try {
            line.put("answer", COMMANDS.get(ask.getString("do")).run(ask));
        } catch (Throwable error) {
            line.put("error", described(error));
        }
        write(line);
    }

    static void write(Map<String, Object> line) {
        byte[] text = JSON.toJSONBytes(line, JSONWriter.Feature.WriteNulls);
        synchronized (WIRE) {
            WIRE.write(text, 0, text.length);
            WIRE.write('\n');
            WIRE.flush();
        }
    }

    /** The first exception that carries a response code speaks; otherwise the outermost does. */
    static Map<String, Object> described(Throwable error) {
        Map<String, Object> said = new LinkedHashMap<>();
        said.put("kind", error.getClass().getSimpleName());
        said.put("message", String.valueOf(error.getMessage()));
        for (Throwable at = error; at != null; at = at.getCause()) {
            if (at instanceof MQBrokerException) {
                said.put("code", ((MQBrokerException) at).getResponseCode());
                return said;
            }
            if (at instanceof MQClientException && ((MQClientException) at).getResponseCode() > 0) {
                said.put("code", ((MQClientException) at).getResponseCode());
                return said;
            }
        }
        said.put("code", null);
        return said;
    }

    private static Object about(JSONObject ask) {
        Map<String, Object> said = new LinkedHashMap<>();
        said.put("rocketmq", MQVersion.getVersionDesc(MQVersion.CURRENT_VERSION));
        said.put("java", System.getProperty("java.version"));
        said.put("encoding", System.getProperty("rocketmq.serialize.type", "JSON"));
        return said;
    }

    /** Some commands keep their client for the next call, which may go to another cluster. */
    private static final class Commands extends MQAdminStartup {
        static void forget() {
            SUB_COMMANDS.clear();
        }
    }

    /** Runs one mqadmin command here, which saves a JVM start, and returns what it printed. */
    private static synchronized Object mqadmin(JSONObject ask) throws Exception {
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        PrintStream out = System.out;
        PrintStream err = System.err;
        PrintStream both = new PrintStream(printed, true, "UTF-8");
        System.setOut(both);
        System.setErr(both);
        Commands.forget();
        try {
            MQAdminStartup.main(ask.getJSONArray("args").toArray(new String[0]));
        } finally {
            System.setOut(out);
            System.setErr(err);
        }
        return printed.toString("UTF-8");
    }
}
