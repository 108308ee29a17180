import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.lang.reflect.Type;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.BitSet;
import java.util.Collection;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.remoting.protocol.RemotingCommand;

/** Random instances of any class, the same for the same seed: every field by its declared type. */
final class Chance {
    static final int DEFAULTS = 0;
    static final int ORDINARY = 1;
    static final int NASTY = 2;
    static final int NULLS = 3;

    private static final int DEEPEST = 5;
    private static final long THEN = 1_700_000_000_000L;
    private static final long AGE = 60_000;
    private static final String[] TEXTS = {"", " ", "\"q\"", "a\\b", "\t\n\r\b\f", "\u0000\u0001\u0002\u001f", "\u007f\u0085\u009f",
        "\u2028\u2029", "caf\u00e9", "\u4e3b\u9898", "\ud83d\ude80", "a/b", "{\"x\":1}", "[1,2]", "null", "true", "'x'", "<&>", "%RETRY%g@T",
        "\ufeffb", "1e5", "-0", "$ref", "\ufffd", "e\u0301", "$.a.b", "@type", "0", "007", "18446744073709551616", "NaN", ",", ":", "}",
        "//x", "/*x*/", "\u0661"};
    private static final long[] WHOLES = {0, 1, -1, Integer.MIN_VALUE, Integer.MAX_VALUE, 1L << 31, Long.MIN_VALUE, Long.MAX_VALUE,
        (1L << 53) - 1, (1L << 53) + 1, -(1L << 53) - 1};
    private static final double[] FRACTIONS = {0, -0.0, 1.5, 1e10, 1e-7, 1e21, 123456789.123, Double.MAX_VALUE, Double.MIN_VALUE, 1e7,
        9999999.5, 0.001, 0.0001, Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY, 2e-3, 1.0E22, 4.9e-324, 100};

    private final Random random;
    private final int level;
    private final boolean timeless;

    Chance(long seed, int level, boolean timeless) {
        this.random = new Random(seed);
        this.level = level;
        this.timeless = timeless;
    }

    /** Asked for by seed, level and timeless: whether what constructors take from the clock is replaced by one time. */
    static Chance of(Request request) {
        return new Chance(request.wide("seed", 0), request.number("level", 1), request.flag("timeless", false));
    }

    Object instance(Class<?> type) throws ReflectiveOperationException {
        return make(type, 0, "");
    }

    private String text(String name) {
        if (level >= NASTY && random.nextInt(3) > 0) {
            return TEXTS[random.nextInt(TEXTS.length)];
        }
        if (name.toLowerCase(Locale.ROOT).contains("addr")) {
            return "10.0." + random.nextInt(256) + "." + random.nextInt(256) + ":" + (10_000 + random.nextInt(2000));
        }
        return (name.isEmpty() ? "x" : name) + "-" + Integer.toString(random.nextInt(1 << 20), 36);
    }

    private long whole() {
        if (level >= NASTY && random.nextInt(4) > 0) {
            return WHOLES[random.nextInt(WHOLES.length)];
        }
        return random.nextInt(5) == 0 ? random.nextLong() : random.nextInt(64);
    }

    private double fraction() {
        if (level >= NASTY && random.nextInt(4) > 0) {
            return FRACTIONS[random.nextInt(FRACTIONS.length)];
        }
        return random.nextInt(4) == 0 ? random.nextInt(1000) : random.nextGaussian() * Math.pow(10, random.nextInt(24) - 8);
    }

    private Object simple(Class<?> type, String name) {
        switch (type.getSimpleName()) {
            case "String":
            case "Object":
                return text(name);
            case "int":
            case "Integer":
                return (int) whole();
            case "long":
            case "Long":
                return whole();
            case "short":
            case "Short":
                return (short) whole();
            case "byte":
            case "Byte":
                return (byte) whole();
            case "boolean":
            case "Boolean":
                return random.nextBoolean();
            case "double":
            case "Double":
                return fraction();
            case "AtomicLong":
                return new AtomicLong(whole());
            case "AtomicInteger":
                return new AtomicInteger((int) whole());
            case "AtomicBoolean":
                return new AtomicBoolean(random.nextBoolean());
            case "BitSet":
                BitSet bits = new BitSet();
                random.ints(random.nextInt(8), 0, 80).forEach(bits::set);
                return bits;
            case "byte[]":
                byte[] data = new byte[random.nextInt(20)];
                random.nextBytes(data);
                return data;
            default:
                return null;
        }
    }

    private Object make(Type type, int depth, String name) throws ReflectiveOperationException {
        Class<?> wanted = Types.raw(type);
        Object simple = simple(wanted, name);
        if (simple != null) {
            return simple;
        }
        if (wanted.isEnum()) {
            Object[] constants = wanted.getEnumConstants();
            return constants[random.nextInt(constants.length)];
        }
        if (SocketAddress.class.isAssignableFrom(wanted)) {
            return new InetSocketAddress("10.0.0." + random.nextInt(256), 1 + random.nextInt(65_000));
        }
        int count = level == DEFAULTS || depth > DEEPEST ? 0 : depth > 2 ? random.nextInt(3) : random.nextInt(4);
        if (wanted.isArray()) {
            Object array = Array.newInstance(wanted.getComponentType(), count);
            for (int i = 0; i < count; i++) {
                Array.set(array, i, make(wanted.getComponentType(), depth + 1, name));
            }
            return array;
        }
        if (Collection.class.isAssignableFrom(wanted)) {
            return fill(Types.collection(wanted), count, type, depth, name);
        }
        if (Map.class.isAssignableFrom(wanted)) {
            return fill(Types.map(wanted), count, type, depth, name);
        }
        boolean ours = wanted.getName().startsWith("org.apache.rocketmq") && !Modifier.isAbstract(wanted.getModifiers());
        return ours && depth <= DEEPEST && wanted != RemotingCommand.class ? object(wanted, depth) : null;
    }

    private Object fill(Collection<Object> items, int count, Type type, int depth, String name) throws ReflectiveOperationException {
        for (int i = 0; i < count; i++) {
            try {
                Object item = make(Types.argument(type, 0), depth + 1, name);
                if (item != null) {
                    items.add(item);
                }
            } catch (ClassCastException unordered) { // a sorted set of what cannot be sorted
                break;
            }
        }
        return items;
    }

    private Object fill(Map<Object, Object> map, int count, Type type, int depth, String name) throws ReflectiveOperationException {
        for (int i = 0; i < count; i++) {
            Object key = make(Types.argument(type, 0), depth + 1, name);
            Object value = make(Types.argument(type, 1), depth + 1, name);
            if (key != null && value != null) {
                map.put(key, value);
            }
        }
        return map;
    }

    private Object object(Class<?> type, int depth) throws ReflectiveOperationException {
        Object object = Types.instance(type);
        for (Field field : Types.fields(type)) {
            boolean primitive = field.getType().isPrimitive();
            boolean fixed = Modifier.isFinal(field.getModifiers()) && primitive || Modifier.isTransient(field.getModifiers());
            if (fixed) {
                continue;
            }
            if (level == DEFAULTS && !primitive) {
                if (timeless) {
                    stop(field.get(object), depth);
                }
                continue;
            }
            if (level == NULLS && !primitive && random.nextInt(3) == 0) {
                field.set(object, null);
            } else if (field.getDeclaringClass() == Message.class && field.getName().equals("properties")) {
                field.set(object, Map.of("TAGS", text("tag")));
            } else {
                Object value = make(Types.of(field, type), depth + 1, field.getName());
                if (value != null || !primitive) {
                    field.set(object, value);
                }
            }
        }
        return object;
    }

    /** Where a constructor has put the present time, below a member that stays as it is, puts one that is the same in every run. */
    private static void stop(Object object, int depth) throws ReflectiveOperationException {
        if (object == null || depth > DEEPEST || object instanceof Enum || !object.getClass().getName().startsWith("org.apache.rocketmq")) {
            return;
        }
        for (Field field : Types.fields(object.getClass())) {
            if (field.getType() != long.class) {
                stop(field.get(object), depth + 1);
            } else if (Math.abs(System.currentTimeMillis() - field.getLong(object)) < AGE) {
                field.setLong(object, THEN);
            }
        }
    }
}
