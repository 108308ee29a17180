import java.lang.annotation.Annotation;
import java.lang.reflect.AnnotatedElement;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** Annotations by short name; a class that this release lacks cannot be named in the source. */
final class Annotations {
    private Annotations() {
    }

    /** Each annotation with its members as text. */
    static Map<String, Object> of(AnnotatedElement element) {
        Map<String, Object> found = new LinkedHashMap<>();
        for (Annotation annotation : element.getAnnotations()) {
            String text = annotation.toString();
            int bracket = text.indexOf('(');
            found.put(annotation.annotationType().getSimpleName(),
                bracket < 0 ? "" : text.substring(bracket + 1, text.length() - 1));
        }
        return found;
    }

    /** The member name that a JSONField of either library gives. */
    static Optional<String> jsonName(AnnotatedElement element) {
        for (Annotation annotation : element.getAnnotations()) {
            if (annotation.annotationType().getSimpleName().equals("JSONField")) {
                try {
                    String name = (String) annotation.annotationType().getMethod("name").invoke(annotation);
                    return name.isEmpty() ? Optional.empty() : Optional.of(name);
                } catch (ReflectiveOperationException failure) {
                    throw new IllegalStateException(failure);
                }
            }
        }
        return Optional.empty();
    }
}
