import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import org.apache.rocketmq.remoting.protocol.RemotingCommand;

/**
 * The RocketMQ classes on the class path by their short names; 4.x and 5.x keep the same class in different packages.
 *
 * A short name is the part after the package, inner classes with a dot ("AclInfo.PolicyInfo").  Where two packages have
 * the same one, that of the remoting protocol is meant.
 */
final class Classes {
    private static final Map<String, String> NAMES = new TreeMap<>();
    private static final List<String> ALL = new ArrayList<>();

    static {
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
            String jar = new File(entry).getName();
            if (jar.startsWith("rocketmq-") && jar.endsWith(".jar") && !jar.matches(".*(proto-|slf4j|logback|rocksdb).*")) {
                list(entry);
            }
        }
        Collections.sort(ALL);
        for (String name : ALL) {
            String known = NAMES.get(shortName(name));
            if (known == null || !isProtocol(known) && isProtocol(name)) {
                NAMES.put(shortName(name), name);
            }
        }
    }

    private Classes() {
    }

    private static void list(String jar) {
        try (JarFile file = new JarFile(jar)) {
            for (JarEntry entry : Collections.list(file.entries())) {
                String name = entry.getName();
                if (name.startsWith("org/apache/rocketmq/") && name.endsWith(".class")) {
                    ALL.add(name.substring(0, name.length() - ".class".length()).replace('/', '.'));
                }
            }
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    private static boolean isProtocol(String name) {
        return name.contains(".remoting.protocol.") || name.contains(".common.protocol.");
    }

    static String shortName(String name) {
        return name.substring(name.lastIndexOf('.') + 1).replace('$', '.');
    }

    static String shortName(Class<?> type) {
        return shortName(type.getName());
    }

    /** Full names of all RocketMQ classes of this release. */
    static List<String> all() {
        return ALL;
    }

    static Class<?> named(String name) throws ClassNotFoundException {
        return Class.forName(NAMES.getOrDefault(name, name));
    }

    static boolean exists(String name) {
        return NAMES.containsKey(name);
    }

    /** Release of the jar that RemotingCommand comes from, such as "5.5.0". */
    static String release() {
        String jar = new File(RemotingCommand.class.getProtectionDomain().getCodeSource().getLocation().getPath()).getName();
        return jar.replaceAll("^rocketmq-remoting-|\\.jar$", "");
    }
}
