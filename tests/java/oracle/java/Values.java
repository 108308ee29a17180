import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Type;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import org.apache.rocketmq.remoting.protocol.RemotingCommand;

/**
 * Java objects as trees of JSON values and back.
 *
 * An object is a map of its JSON members.  What JSON has no form for: {"@map":[[key,value],...]} a map with other keys
 * than text, {"@bytes":hex}, {"@bits":[n,...]} a BitSet, {"@double":"NaN"},
 * {"@set":[...]} items in no order (for building a plain list will do); an address is "host|port".
 * For building also {"@id":n,...} and {"@same":n}: one object in two places.
 */
final class Values {
    private static final int DEEPEST = 60;
    private static final Map<Class<?>, Map<String, Field>> MEMBERS = new ConcurrentHashMap<>();

    private Values() {
    }

    static Object show(Object value) throws ReflectiveOperationException {
        return show(value, 0);
    }

    /** All fields of an object, private ones too, by their own names. */
    static Map<String, Object> showFields(Object value) throws ReflectiveOperationException {
        Map<String, Object> fields = new LinkedHashMap<>();
        for (Field field : Types.fields(value.getClass())) {
            fields.putIfAbsent(field.getName(), show(field.get(value)));
        }
        return fields;
    }

    private static Object show(Object value, int depth) throws ReflectiveOperationException {
        if (depth > DEEPEST) {
            return "@deep";
        }
        if (value == null || value instanceof Boolean || value instanceof String) {
            return value;
        }
        if (value instanceof Number) {
            return showNumber((Number) value);
        }
        if (value instanceof Enum || value instanceof Character) {
            return value instanceof Enum ? ((Enum<?>) value).name() : value.toString();
        }
        if (value instanceof Map) {
            return showMap((Map<?, ?>) value, depth);
        }
        if (value instanceof byte[]) {
            return Map.of("@bytes", HexFormat.of().formatHex((byte[]) value));
        }
        if (value instanceof BitSet) {
            return Map.of("@bits", ((BitSet) value).stream().boxed().collect(Collectors.toList()));
        }
        if (value instanceof Collection || value.getClass().isArray()) {
            return showItems(value, depth);
        }
        return showObject(value, depth);
    }

    private static Object showNumber(Number value) {
        if (value instanceof Double || value instanceof Float) {
            double number = value.doubleValue();
            return Double.isFinite(number) ? (Object) number : Map.of("@double", String.valueOf(number));
        }
        return value instanceof AtomicLong || value instanceof AtomicInteger ? (Object) value.longValue() : value;
    }

    private static Object showItems(Object value, int depth) throws ReflectiveOperationException {
        Object array = value instanceof Collection ? ((Collection<?>) value).toArray() : value;
        List<Object> items = new ArrayList<>();
        for (int i = 0; i < Array.getLength(array); i++) {
            items.add(show(Array.get(array, i), depth + 1));
        }
        return value instanceof Set && !(value instanceof SortedSet) ? Map.of("@set", items) : items;
    }

    private static Object showMap(Map<?, ?> map, int depth) throws ReflectiveOperationException {
        Map<String, Object> named = new LinkedHashMap<>();
        List<Object> pairs = new ArrayList<>();
        for (Map.Entry<?, ?> entry : map.entrySet()) {
            Object value = show(entry.getValue(), depth + 1);
            pairs.add(java.util.Arrays.asList(show(entry.getKey(), depth + 1), value));
            if (entry.getKey() instanceof String) {
                named.put((String) entry.getKey(), value);
            }
        }
        return named.size() == map.size() ? named : Map.of("@map", pairs);
    }

    private static Object showObject(Object value, int depth) throws ReflectiveOperationException {
        if (value instanceof AtomicBoolean) {
            return ((AtomicBoolean) value).get();
        }
        if (value instanceof InetSocketAddress) {
            InetSocketAddress address = (InetSocketAddress) value;
            String host = address.getAddress() == null ? address.getHostString() : address.getAddress().getHostAddress();
            return host + "|" + address.getPort();
        }
        if (value instanceof RemotingCommand) {
            return "@command";
        }
        Map<String, Object> members = Properties.values(value);
        for (Map.Entry<String, Object> member : members.entrySet()) {
            member.setValue(show(member.getValue(), depth + 1));
        }
        return members;
    }

    /** Fields by every name a tree may use for them: their own, that of an annotation, and "x" for "isX". */
    static Map<String, Field> members(Class<?> type) {
        return MEMBERS.computeIfAbsent(type, key -> {
            Map<String, Field> found = new LinkedHashMap<>();
            for (Field field : Types.fields(key)) {
                String name = field.getName();
                found.putIfAbsent(name, field);
                Annotations.jsonName(field).ifPresent(other -> found.putIfAbsent(other, field));
                if (name.startsWith("is") && name.length() > 2) {
                    found.putIfAbsent(Character.toLowerCase(name.charAt(2)) + name.substring(3), field);
                }
            }
            return found;
        });
    }

    static Object build(Object tree, Type type) throws ReflectiveOperationException {
        return new Builder().build(tree, type);
    }

    static InetSocketAddress address(String text) {
        int bar = text.lastIndexOf('|');
        try {
            return new InetSocketAddress(InetAddress.getByName(text.substring(0, bar)), Integer.parseInt(text.substring(bar + 1)));
        } catch (UnknownHostException failure) {
            throw new IllegalArgumentException(failure);
        }
    }

    /** Builds one document; remembers the objects that occur twice in it. */
    private static final class Builder {
        private final Map<Object, Object> shared = new HashMap<>();

        Object build(Object tree, Type type) throws ReflectiveOperationException {
            Class<?> wanted = Types.raw(type);
            if (tree == null) {
                return null;
            }
            if (tree instanceof Map) {
                return structured(Request.of(tree), type, wanted);
            }
            if (tree instanceof List) {
                return items((List<?>) tree, type, wanted);
            }
            if (tree instanceof String) {
                return text((String) tree, wanted);
            }
            return tree instanceof Number ? number((Number) tree, wanted)
                : wanted == AtomicBoolean.class ? new AtomicBoolean((Boolean) tree) : tree;
        }

        @SuppressWarnings({"unchecked", "rawtypes"})
        private static Object text(String text, Class<?> wanted) {
            if (wanted.isEnum()) {
                return Enum.valueOf((Class) wanted, text);
            }
            return SocketAddress.class.isAssignableFrom(wanted) ? address(text) : text;
        }

        private static Object number(Number number, Class<?> wanted) {
            switch (wanted.getSimpleName()) {
                case "int":
                case "Integer":
                    return Math.toIntExact(number.longValue());
                case "short":
                case "Short":
                    return number.shortValue();
                case "byte":
                case "Byte":
                    return number.byteValue();
                case "double":
                case "Double":
                    return number.doubleValue();
                case "AtomicLong":
                    return new AtomicLong(number.longValue());
                case "AtomicInteger":
                    return new AtomicInteger(number.intValue());
                case "String":
                    return number.toString();
                default:
                    return number.longValue();
            }
        }

        private Object items(List<?> trees, Type type, Class<?> wanted) throws ReflectiveOperationException {
            if (wanted.isArray()) {
                Object array = Array.newInstance(wanted.getComponentType(), trees.size());
                for (int i = 0; i < trees.size(); i++) {
                    Array.set(array, i, build(trees.get(i), wanted.getComponentType()));
                }
                return array;
            }
            Collection<Object> items = Types.collection(wanted);
            for (Object tree : trees) {
                items.add(build(tree, Types.argument(type, 0)));
            }
            return items;
        }

        private Object structured(Request tree, Type type, Class<?> wanted) throws ReflectiveOperationException {
            if (tree.has("@same")) {
                return shared.get(tree.get("@same"));
            }
            if (tree.has("@bytes")) {
                return tree.bytes("@bytes");
            }
            if (tree.has("@double")) {
                return Double.valueOf(tree.text("@double"));
            }
            if (tree.has("@bits")) {
                BitSet bits = new BitSet();
                tree.list("@bits").forEach(bit -> bits.set(((Long) bit).intValue()));
                return bits;
            }
            return Map.class.isAssignableFrom(wanted) ? map(tree, type, wanted) : object(tree, wanted);
        }

        private Object map(Request tree, Type type, Class<?> wanted) throws ReflectiveOperationException {
            Map<Object, Object> map = Types.map(wanted);
            if (tree.has("@map")) {
                for (Object pair : tree.list("@map")) {
                    List<?> both = (List<?>) pair;
                    map.put(build(both.get(0), Types.argument(type, 0)), build(both.get(1), Types.argument(type, 1)));
                }
                return map;
            }
            for (Map.Entry<String, Object> entry : tree.members.entrySet()) {
                map.put(entry.getKey(), build(entry.getValue(), Types.argument(type, 1)));
            }
            return map;
        }

        private Object object(Request tree, Class<?> wanted) throws ReflectiveOperationException {
            Object object = Types.instance(wanted);
            if (tree.has("@id")) {
                shared.put(tree.get("@id"), object);
            }
            Map<String, Field> members = members(wanted);
            for (Map.Entry<String, Object> entry : tree.members.entrySet()) {
                Field field = members.get(entry.getKey());
                if (field != null && (entry.getValue() != null || !field.getType().isPrimitive())) {
                    field.set(object, build(entry.getValue(), Types.of(field, wanted)));
                }
            }
            return object;
        }
    }
}
