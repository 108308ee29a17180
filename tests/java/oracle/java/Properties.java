import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.rocketmq.remoting.protocol.RemotingSerializable;

/**
 * The JSON members of a class as that release's own JSON library sees them, in the order in which it writes them.
 *
 * 5.4 and later use fastjson2, what came before fastjson 1; the release is known by the parameter of encode(...).
 */
final class Properties {
    static final boolean FASTJSON2 = List.of(RemotingSerializable.class.getMethods()).stream()
        .filter(method -> method.getName().equals("encode") && method.getParameterCount() == 1)
        .anyMatch(method -> method.getParameterTypes()[0].getName().contains("fastjson2"));

    private static final Map<Class<?>, List<?>> WRITERS = new ConcurrentHashMap<>();
    private static final Map<Class<?>, Method> GETTERS = new ConcurrentHashMap<>();

    private Properties() {
    }

    private static Object call(Class<?> type, Object target, String method, Class<?>[] types, Object... arguments)
        throws ReflectiveOperationException {
        return type.getMethod(method, types).invoke(target, arguments);
    }

    private static List<?> writers(Class<?> type) throws ReflectiveOperationException {
        List<?> known = WRITERS.get(type);
        if (known != null) {
            return known;
        }
        Object provider = call(Class.forName("com.alibaba.fastjson2.JSONFactory"), null, "getDefaultObjectWriterProvider", null);
        Object writer = call(provider.getClass(), provider, "getObjectWriter", new Class<?>[] {Class.class}, type);
        List<?> found = (List<?>) call(Class.forName("com.alibaba.fastjson2.writer.ObjectWriter"), writer, "getFieldWriters", null);
        WRITERS.put(type, found);
        return found;
    }

    /** Members of an instance with their values; a getter that throws gives the text "@throws" and its exception. */
    static Map<String, Object> values(Object bean) throws ReflectiveOperationException {
        Map<String, Object> values = new LinkedHashMap<>();
        if (!FASTJSON2) {
            for (Map.Entry<?, ?> entry : oldValues(bean).entrySet()) {
                values.put((String) entry.getKey(), entry.getValue());
            }
            return values;
        }
        for (Object writer : writers(bean.getClass())) {
            Object value;
            try {
                value = getter(writer).invoke(writer, bean);
            } catch (ReflectiveOperationException failure) {
                value = "@throws " + failure.getCause().getClass().getSimpleName();
            }
            values.put(name(writer), value);
        }
        return values;
    }

    private static Method getter(Object writer) throws ReflectiveOperationException {
        Method known = GETTERS.get(writer.getClass());
        if (known == null) {
            known = writer.getClass().getMethod("getFieldValue", Object.class);
            known.setAccessible(true);
            GETTERS.put(writer.getClass(), known);
        }
        return known;
    }

    private static String name(Object writer) throws ReflectiveOperationException {
        Field field = Class.forName("com.alibaba.fastjson2.writer.FieldWriter").getField("fieldName");
        return (String) field.get(writer);
    }

    private static Map<?, ?> oldValues(Object bean) throws ReflectiveOperationException {
        Class<?> configuration = Class.forName("com.alibaba.fastjson.serializer.SerializeConfig");
        Object global = call(configuration, null, "getGlobalInstance", null);
        Object writer = call(configuration, global, "getObjectWriter", new Class<?>[] {Class.class}, bean.getClass());
        return (Map<?, ?>) call(writer.getClass(), writer, "getFieldValuesMap", new Class<?>[] {Object.class}, bean);
    }

    /** Names of the members, without an instance where the library can tell; null where it needs one and there is none. */
    static List<String> names(Class<?> type) throws ReflectiveOperationException {
        if (FASTJSON2) {
            List<String> names = new java.util.ArrayList<>();
            for (Object writer : writers(type)) {
                names.add(name(writer));
            }
            return names;
        }
        return List.copyOf(values(Types.instance(type)).keySet());
    }
}
