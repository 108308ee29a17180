import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.apache.rocketmq.acl.common.AclClientRPCHook;
import org.apache.rocketmq.acl.common.AclSigner;
import org.apache.rocketmq.acl.common.AclUtils;
import org.apache.rocketmq.acl.common.SessionCredentials;
import org.apache.rocketmq.acl.common.SigningAlgorithm;
import org.apache.rocketmq.remoting.protocol.RemotingCommand;

/**
 * ACL signatures.
 *
 * sign: a command as for encode_frame, access_key, secret_key, security_token -> ext, content, signature, hex (frame);
 *     the client's own hook signs.
 * sign_bytes: hex or text, secret_key, algorithm (HmacSHA1, HmacSHA256, HmacMD5) -> signature.
 */
final class Signatures {
    private Signatures() {
    }

    static void register(Map<String, Oracle.Operation> operations) {
        operations.put("sign", Signatures::sign);
        operations.put("sign_bytes", (request, answer) -> {
            SigningAlgorithm algorithm = SigningAlgorithm.valueOf(request.has("algorithm") ? request.text("algorithm") : "HmacSHA1");
            answer.put("signature", AclSigner.calSignature(
                request.document(), request.text("secret_key"), algorithm, StandardCharsets.UTF_8));
        });
    }

    private static byte[] content(RemotingCommand command) {
        SortedMap<String, String> signed = new TreeMap<>();
        if (command.getExtFields() != null) {
            signed.putAll(command.getExtFields());
        }
        signed.remove("Signature");
        return AclUtils.combineRequestContent(command, signed);
    }

    private static void sign(Request request, Map<String, Object> answer) throws Exception {
        RemotingCommand command = Commands.command(request);
        SessionCredentials credentials = new SessionCredentials(
            request.text("access_key"), request.text("secret_key"), request.text("security_token"));
        new AclClientRPCHook(credentials).doBeforeRequest("127.0.0.1:9876", command);
        Map<String, Object> fields = new LinkedHashMap<>(command.getExtFields());
        answer.put("ext", fields);
        answer.put("content", Request.hex(content(command)));
        answer.put("signature", command.getExtFields().get("Signature"));
        answer.put("hex", Request.hex(Commands.encode(command)));
    }
}
