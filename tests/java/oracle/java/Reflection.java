import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.rocketmq.common.MQVersion;
import org.apache.rocketmq.remoting.CommandCustomHeader;
import org.apache.rocketmq.remoting.protocol.LanguageCode;
import org.apache.rocketmq.remoting.protocol.RemotingSerializable;
import org.apache.rocketmq.remoting.protocol.SerializeType;

/**
 * The protocol as the classes of this release declare it.
 *
 * reflect: also (short names of further bodies) -> release, request_codes, response_codes, languages, serialize_types, versions, current_version, headers,
 *     bodies (all that are RemotingSerializable and all that their fields refer to), enums, constants; each class with
 *     its fields (name, type, annotations, default) and each body with its JSON members in the order of emission.
 */
final class Reflection {
    private static final List<String> CONSTANT_HOLDERS = List.of("MessageSysFlag", "PullSysFlag", "TopicSysFlag",
        "SubscriptionSysFlag", "PermName", "MessageConst", "MessageDecoder", "SessionCredentials");

    private Reflection() {
    }

    static void register(Map<String, Oracle.Operation> operations) {
        operations.put("reflect", (request, answer) -> {
            answer.put("release", Classes.release());
            answer.put("request_codes", constants(Classes.named("RequestCode")));
            answer.put("response_codes", constants(Classes.named("ResponseCode")));
            Map<String, Object> languages = new LinkedHashMap<>();
            for (LanguageCode language : LanguageCode.values()) {
                languages.put(language.name(), (int) language.getCode());
            }
            answer.put("languages", languages);
            Map<String, Object> types = new LinkedHashMap<>();
            for (SerializeType type : SerializeType.values()) {
                types.put(type.name(), (int) type.getCode());
            }
            answer.put("serialize_types", types);
            Map<String, Object> versions = new LinkedHashMap<>();
            for (MQVersion.Version version : MQVersion.Version.values()) {
                versions.put(version.name(), version.ordinal());
            }
            answer.put("versions", versions);
            answer.put("current_version", MQVersion.CURRENT_VERSION);
            Map<String, Object> holders = new LinkedHashMap<>();
            for (String name : CONSTANT_HOLDERS) {
                if (Classes.exists(name)) {
                    holders.put(name, constants(Classes.named(name)));
                }
            }
            answer.put("constants", holders);
            Dump dump = new Dump(answer);
            dump.all();
            if (request.has("also")) {
                for (Object name : request.list("also")) {
                    if (Classes.exists((String) name)) {
                        dump.body(Classes.named((String) name));
                    }
                }
            }
        });
    }

    private static Map<String, Object> constants(Class<?> type) throws IllegalAccessException {
        Map<String, Object> found = new LinkedHashMap<>();
        for (Class<?> level = type; level != null; level = level.getSuperclass()) {
            for (Field field : level.getDeclaredFields()) {
                if (Modifier.isStatic(field.getModifiers()) && field.getType() != Object.class) {
                    field.setAccessible(true);
                    Object value = field.get(null);
                    if (value instanceof Number || value instanceof String || value instanceof Character) {
                        found.put(field.getName(), value);
                    }
                }
            }
        }
        return found;
    }

    /** Collects headers, bodies and enums, following the types of the bodies' fields. */
    private static final class Dump {
        private final Map<String, Object> headers = new TreeMap<>();
        private final Map<String, Object> bodies = new TreeMap<>();
        private final Map<String, Object> enums = new TreeMap<>();
        private final List<String> broken = new ArrayList<>();

        Dump(Map<String, Object> answer) {
            answer.put("headers", headers);
            answer.put("bodies", bodies);
            answer.put("enums", enums);
            answer.put("broken", broken);
        }

        void all() {
            for (String name : Classes.all()) {
                try {
                    Class<?> type = Class.forName(name, false, Reflection.class.getClassLoader());
                    if (CommandCustomHeader.class.isAssignableFrom(type) && !type.isInterface()) {
                        headers.put(Classes.shortName(type), describe(type));
                    } else if (isBody(type) || name.matches(".*\\.protocol\\.(body|admin|heartbeat|route|statictopic|subscription)\\..*")) {
                        body(type);
                    }
                } catch (Throwable failure) { // optional libraries are not there
                    broken.add(name + ": " + failure);
                }
            }
        }

        private static boolean isBody(Class<?> type) {
            return RemotingSerializable.class.isAssignableFrom(type) && type != RemotingSerializable.class;
        }

        private void body(Class<?> type) {
            String name = Classes.shortName(type);
            if (type.isArray()) {
                body(type.getComponentType());
            } else if (type.isEnum() && type.getName().startsWith("org.apache.rocketmq.")) {
                List<Object> constants = new ArrayList<>();
                for (Object constant : type.getEnumConstants()) {
                    constants.add(((Enum<?>) constant).name());
                }
                enums.put(name, constants);
            } else if (isOurs(type) && !bodies.containsKey(name)) {
                Map<String, Object> shown = new LinkedHashMap<>();
                bodies.put(name, shown);
                shown.putAll(describe(type));
                try {
                    shown.put("members", Properties.names(type));
                } catch (Throwable failure) {
                    shown.put("members", null);
                }
                Types.fields(type).forEach(field -> follow(field.getGenericType()));
            }
        }

        private static boolean isOurs(Class<?> type) {
            boolean named = type.getName().startsWith("org.apache.rocketmq.") && !type.getName().matches(".*\\$\\d+");
            return named && !type.isInterface() && !CommandCustomHeader.class.isAssignableFrom(type);
        }

        private void follow(Type type) {
            body(Types.raw(type));
            if (type instanceof ParameterizedType) {
                for (Type argument : ((ParameterizedType) type).getActualTypeArguments()) {
                    follow(argument);
                }
            }
        }

        private static Map<String, Object> describe(Class<?> type) {
            Map<String, Object> shown = new LinkedHashMap<>();
            shown.put("java_class", type.getName());
            shown.put("extends", type.getSuperclass() == null ? null : type.getSuperclass().getSimpleName());
            shown.put("abstract", Modifier.isAbstract(type.getModifiers()));
            List<Object> interfaces = new ArrayList<>();
            for (Class<?> one : type.getInterfaces()) {
                interfaces.add(one.getSimpleName());
            }
            shown.put("interfaces", interfaces);
            shown.put("annotations", Annotations.of(type));
            Object example = null;
            try {
                example = type.getDeclaredConstructor().newInstance();
            } catch (ReflectiveOperationException | LinkageError failure) {
                shown.put("no_default", failure.getClass().getSimpleName());
            }
            List<Object> fields = new ArrayList<>();
            for (Field field : Types.fields(type)) {
                fields.add(describe(field, example));
            }
            shown.put("fields", fields);
            return shown;
        }

        private static Map<String, Object> describe(Field field, Object example) {
            Map<String, Object> shown = new LinkedHashMap<>();
            shown.put("name", field.getName());
            shown.put("type", shortType(field.getGenericType()));
            shown.put("declared_in", field.getDeclaringClass().getSimpleName());
            shown.put("transient", Modifier.isTransient(field.getModifiers()));
            shown.put("annotations", Annotations.of(field));
            if (example != null) {
                try {
                    Object value = field.get(example);
                    boolean plain = value == null || value instanceof Number || value instanceof Boolean || value instanceof String
                        || value instanceof Enum || value instanceof Collection || value instanceof Map;
                    shown.put("default", plain ? Values.show(value) : Map.of("@new", value.getClass().getSimpleName()));
                } catch (ReflectiveOperationException failure) {
                    shown.put("default", Map.of("@error", failure.toString()));
                }
            }
            return shown;
        }

        private static String shortType(Type type) {
            return type.getTypeName().replace('$', '.').replaceAll("\\b(?:[a-z][a-z0-9_]*\\.)+", "");
        }
    }
}
