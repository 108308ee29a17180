import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.lang.reflect.WildcardType;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.stream.Stream;

/** What reflection leaves to be worked out: raw classes, type arguments, all fields of a class, empty instances. */
final class Types {
    private static final Map<Class<?>, List<Field>> FIELDS = new ConcurrentHashMap<>();

    private Types() {
    }

    static Class<?> raw(Type type) {
        if (type instanceof Class) {
            return (Class<?>) type;
        }
        if (type instanceof ParameterizedType) {
            return raw(((ParameterizedType) type).getRawType());
        }
        return type instanceof WildcardType ? raw(((WildcardType) type).getUpperBounds()[0]) : Object.class;
    }

    /** Type argument of a collection or map, also where the class says it by what it extends. */
    static Type argument(Type type, int index) {
        if (type instanceof ParameterizedType) {
            return ((ParameterizedType) type).getActualTypeArguments()[index];
        }
        if (type instanceof Class && ((Class<?>) type).getGenericSuperclass() instanceof ParameterizedType) {
            return argument(((Class<?>) type).getGenericSuperclass(), index);
        }
        return String.class;
    }

    /** Type of a field as an instance of {@code owner} has it; only one level of type variables occurs. */
    static Type of(Field field, Class<?> owner) {
        Type type = field.getGenericType();
        return type instanceof TypeVariable ? argument(owner.getGenericSuperclass(), 0) : type;
    }

    /** Instance fields of the class and what it extends, most derived first, accessible. */
    static List<Field> fields(Class<?> type) {
        return FIELDS.computeIfAbsent(type, key -> {
            List<Field> found = new ArrayList<>();
            for (Class<?> level = key; level != null && level != Object.class; level = level.getSuperclass()) {
                for (Field field : level.getDeclaredFields()) {
                    if (!Modifier.isStatic(field.getModifiers()) && !field.isSynthetic()) {
                        field.setAccessible(true);
                        found.add(field);
                    }
                }
            }
            return found;
        });
    }

    /** A new instance by the constructor with the fewest parameters, each zero, false or empty; rather none that is null. */
    static Object instance(Class<?> type) throws ReflectiveOperationException {
        Constructor<?> constructor = Stream.of(type.getDeclaredConstructors())
            .min(Comparator.<Constructor<?>>comparingLong(Types::nulls).thenComparingInt(Constructor::getParameterCount))
            .orElseThrow();
        constructor.setAccessible(true);
        return constructor.newInstance(arguments(constructor));
    }

    private static Object[] arguments(Constructor<?> constructor) {
        return Stream.of(constructor.getParameterTypes()).map(Types::nothing).toArray();
    }

    private static long nulls(Constructor<?> constructor) {
        return Stream.of(arguments(constructor)).filter(Objects::isNull).count();
    }

    private static Object nothing(Class<?> type) {
        if (type.isPrimitive()) {
            return java.lang.reflect.Array.get(java.lang.reflect.Array.newInstance(type, 1), 0);
        }
        if (type == String.class) {
            return "";
        }
        if (Map.class.isAssignableFrom(type)) {
            return map(type);
        }
        return Collection.class.isAssignableFrom(type) ? collection(type) : null;
    }

    private static boolean isConcrete(Class<?> type) {
        return !type.isInterface() && !Modifier.isAbstract(type.getModifiers());
    }

    @SuppressWarnings("unchecked")
    static Collection<Object> collection(Class<?> type) {
        if (isConcrete(type)) {
            try {
                return (Collection<Object>) instance(type);
            } catch (ReflectiveOperationException failure) {
                throw new IllegalArgumentException(failure);
            }
        }
        if (SortedSet.class.isAssignableFrom(type)) {
            return new TreeSet<>();
        }
        return Set.class.isAssignableFrom(type) ? new LinkedHashSet<>() : new ArrayList<>();
    }

    @SuppressWarnings("unchecked")
    static Map<Object, Object> map(Class<?> type) {
        if (isConcrete(type)) {
            try {
                return (Map<Object, Object>) instance(type);
            } catch (ReflectiveOperationException failure) {
                throw new IllegalArgumentException(failure);
            }
        }
        if (ConcurrentNavigableMap.class.isAssignableFrom(type)) {
            return new ConcurrentSkipListMap<>();
        }
        if (ConcurrentMap.class.isAssignableFrom(type)) {
            return new ConcurrentHashMap<>();
        }
        return SortedMap.class.isAssignableFrom(type) ? new TreeMap<>() : new LinkedHashMap<>();
    }
}
