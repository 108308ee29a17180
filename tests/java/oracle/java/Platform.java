import java.io.ByteArrayInputStream;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import javax.net.ssl.SSLContext;
import org.apache.rocketmq.common.MixAll;

/**
 * What Java itself does with configuration: property files, settings, names of cipher suites.
 *
 * file_properties: hex -> map, as a file is read; update_properties: hex -> map, as the body of request 318 is, null if malformed.
 * settings: hex, class -> text: a properties file applied to an object of that class, all of whose settings are then written.
 * ciphers: -> ids: numbers of all cipher suites that this JDK supports, by name.
 */
final class Platform {
    private Platform() {
    }

    static void register(Map<String, Oracle.Operation> operations) {
        operations.put("file_properties", (request, answer) -> answer.put("map", shown(loaded(request.bytes("hex")))));
        operations.put("update_properties", (request, answer) -> {
            Properties read = MixAll.string2Properties(new String(request.bytes("hex"), StandardCharsets.UTF_8));
            answer.put("map", read == null ? null : shown(read));
        });
        operations.put("settings", (request, answer) -> {
            Object settings = Class.forName(request.text("class")).getDeclaredConstructor().newInstance();
            MixAll.properties2Object(loaded(request.bytes("hex")), settings);
            answer.put("text", sorted(MixAll.object2Properties(settings)));
        });
        operations.put("ciphers", (request, answer) -> answer.put("ids", cipherNumbers()));
    }

    /** Sorted as request 319 shows them; releases before 5.0 cannot sort, and lack the method. */
    private static String sorted(Properties properties) throws Exception {
        Method write = MixAll.class.getMethod("properties2String", Properties.class, boolean.class);
        return (String) write.invoke(null, properties, true);
    }

    private static Properties loaded(byte[] data) throws Exception {
        Properties properties = new Properties();
        properties.load(new ByteArrayInputStream(data));
        return properties;
    }

    private static Map<String, Object> shown(Properties properties) {
        Map<String, Object> map = new LinkedHashMap<>();
        properties.forEach((key, value) -> map.put((String) key, value));
        return map;
    }

    private static Map<String, Object> cipherNumbers() throws Exception {
        Class<?> suites = Class.forName("sun.security.ssl.CipherSuite");
        Field name = suites.getDeclaredField("name");
        Field number = suites.getDeclaredField("id");
        name.setAccessible(true);
        number.setAccessible(true);
        Map<String, Object> ids = new TreeMap<>();
        for (Object suite : suites.getEnumConstants()) {
            ids.put((String) name.get(suite), (long) number.getInt(suite));
        }
        ids.keySet().retainAll(java.util.Set.of(SSLContext.getDefault().getSupportedSSLParameters().getCipherSuites()));
        return ids;
    }
}
