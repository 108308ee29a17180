import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

/** The members of one request, with the defaults that a missing or null member stands for. */
final class Request {
    private static final HexFormat HEX = HexFormat.of();
    final Map<String, Object> members;

    Request(Map<String, Object> members) {
        this.members = members;
    }

    @SuppressWarnings("unchecked")
    static Request of(Object value) {
        return new Request((Map<String, Object>) value);
    }

    boolean has(String name) {
        return members.get(name) != null;
    }

    Object get(String name) {
        return members.get(name);
    }

    String text(String name) {
        return (String) members.get(name);
    }

    int number(String name, int otherwise) {
        return has(name) ? Math.toIntExact((Long) members.get(name)) : otherwise;
    }

    long wide(String name, long otherwise) {
        return has(name) ? (Long) members.get(name) : otherwise;
    }

    boolean flag(String name, boolean otherwise) {
        return has(name) ? (Boolean) members.get(name) : otherwise;
    }

    byte[] bytes(String name) {
        return has(name) ? HEX.parseHex(text(name)) : null;
    }

    /** A document: the bytes in "hex", or the text in "text" as UTF-8. */
    byte[] document() {
        return has("hex") ? bytes("hex") : text("text").getBytes(StandardCharsets.UTF_8);
    }

    @SuppressWarnings("unchecked")
    Map<String, Object> map(String name) {
        return (Map<String, Object>) members.get(name);
    }

    @SuppressWarnings("unchecked")
    List<Object> list(String name) {
        return (List<Object>) members.get(name);
    }

    static String hex(byte[] data) {
        return data == null ? null : HEX.formatHex(data);
    }
}
