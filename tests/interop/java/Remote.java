// SPDX-License-Identifier: Apache-2.0
import com.alibaba.fastjson2.JSONObject;
import java.util.Base64;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.rocketmq.remoting.netty.NettyClientConfig;
import org.apache.rocketmq.remoting.netty.NettyRemotingClient;
import org.apache.rocketmq.remoting.protocol.RemotingCommand;
import org.apache.rocketmq.remoting.protocol.SerializeType;

/** One request of any code to any address, through the stock network layer. */
final class Remote {
    private final NettyRemotingClient network = new NettyRemotingClient(new NettyClientConfig());

    Remote() {
        network.start();
    }

    Object call(JSONObject ask) throws Exception {
        int code = ask.getIntValue("code");
        RemotingCommand request = RemotingCommand.createRequestCommand(code, null);
        HashMap<String, String> fields = new HashMap<>();
        JSONObject given = ask.getJSONObject("fields");
        for (String name : given.keySet()) {
            fields.put(name, given.getString(name));
        }
        request.setExtFields(fields);
        request.setBody(Base64.getDecoder().decode(ask.getString("body")));
        request.setSerializeTypeCurrentRPC(SerializeType.valueOf(ask.getString("encoding")));
        RemotingCommand response = network.invokeSync(ask.getString("address"), request, 5000);

        Map<String, Object> said = new LinkedHashMap<>();
        said.put("code", response.getCode());
        said.put("remark", response.getRemark());
        said.put("fields", response.getExtFields() == null ? Map.of() : response.getExtFields());
        byte[] body = response.getBody() == null ? new byte[0] : response.getBody();
        said.put("body", Base64.getEncoder().encodeToString(body));
        said.put("encoding", response.getSerializeTypeCurrentRPC().name());
        said.put("version", response.getVersion());
        said.put("language", response.getLanguage().name());
        return said;
    }
}
