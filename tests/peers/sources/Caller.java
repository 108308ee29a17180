import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import org.apache.rocketmq.common.MQVersion;
import org.apache.rocketmq.remoting.netty.NettyClientConfig;
import org.apache.rocketmq.remoting.netty.NettyRemotingClient;
import org.apache.rocketmq.remoting.protocol.RemotingCommand;

/**
 * Sends single requests with Java's own remoting client: what no program of Java's sends by itself gets recorded this way.
 *
 * A request is one line of tab-separated words: ADDRESS, CODE, "sync" or "oneway", VERSION or "-", BODY as text, then
 * KEY=VALUE for each header field; no such word at all means no extFields.  The answer is the response code, or "sent".
 */
public class Caller {
    public static void main(String[] ignored) throws Exception {
        PrintStream answers = System.out;
        System.setOut(System.err);
        System.setProperty(RemotingCommand.REMOTING_VERSION_KEY, String.valueOf(MQVersion.CURRENT_VERSION));
        NettyRemotingClient client = new NettyRemotingClient(new NettyClientConfig());
        client.start();
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            try {
                answers.println(call(client, line.split("\t", -1)));
            } catch (Throwable failure) {
                answers.println("failed: " + failure);
            }
            answers.flush();
        }
        Runtime.getRuntime().halt(0);
    }

    private static String call(NettyRemotingClient client, String[] words) throws Exception {
        RemotingCommand request = RemotingCommand.createRequestCommand(Integer.parseInt(words[1]), null);
        if (!words[3].equals("-")) {
            request.setVersion(Integer.parseInt(words[3]));
        }
        if (!words[4].isEmpty()) {
            request.setBody(words[4].getBytes(StandardCharsets.UTF_8));
        }
        if (words.length > 5) {
            request.setExtFields(new HashMap<>());
        }
        for (int i = 5; i < words.length; i++) {
            String[] field = words[i].split("=", 2);
            request.addExtField(field[0], field[1]);
        }
        if (words[2].equals("oneway")) {
            client.invokeOneway(words[0], request, 60_000);
            return "sent";
        }
        return String.valueOf(client.invokeSync(words[0], request, 60_000).getCode());
    }
}
