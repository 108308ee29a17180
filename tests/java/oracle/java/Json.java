import java.math.BigInteger;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The JSON of the conversation with the tests, read and written here so that no library under test has a part in it.
 *
 * Values are Map (ordered), List, String, Long or BigInteger, Double, Boolean and null.  What is written is pure ASCII:
 * every other UTF-16 unit is escaped, so a lone surrogate survives in both directions.
 */
final class Json {
    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    static Object read(String text) {
        Json reader = new Json(text);
        Object value = reader.value();
        reader.blanks();
        if (reader.at != text.length()) {
            throw reader.wrong("end of line");
        }
        return value;
    }

    static String write(Object value) {
        StringBuilder out = new StringBuilder(256);
        write(value, out);
        return out.toString();
    }

    private IllegalArgumentException wrong(String expected) {
        return new IllegalArgumentException("request is not JSON: " + expected + " expected at " + at);
    }

    private void blanks() {
        while (at < text.length() && text.charAt(at) <= ' ') {
            at++;
        }
    }

    private char next() {
        blanks();
        if (at >= text.length()) {
            throw wrong("a value");
        }
        return text.charAt(at);
    }

    private void expect(char wanted) {
        if (next() != wanted) {
            throw wrong(String.valueOf(wanted));
        }
        at++;
    }

    private boolean accept(char wanted) {
        if (next() != wanted) {
            return false;
        }
        at++;
        return true;
    }

    private Object value() {
        switch (next()) {
            case '{':
                return object();
            case '[':
                return array();
            case '"':
                return string();
            case 't':
                return word("true", true);
            case 'f':
                return word("false", false);
            case 'n':
                return word("null", null);
            default:
                return number();
        }
    }

    private Object word(String word, Object meaning) {
        if (!text.startsWith(word, at)) {
            throw wrong(word);
        }
        at += word.length();
        return meaning;
    }

    private Map<String, Object> object() {
        Map<String, Object> members = new LinkedHashMap<>();
        expect('{');
        if (accept('}')) {
            return members;
        }
        do {
            blanks();
            String name = string();
            expect(':');
            members.put(name, value());
        } while (accept(','));
        expect('}');
        return members;
    }

    private List<Object> array() {
        List<Object> items = new ArrayList<>();
        expect('[');
        if (accept(']')) {
            return items;
        }
        do {
            items.add(value());
        } while (accept(','));
        expect(']');
        return items;
    }

    private String string() {
        expect('"');
        int end = at;
        while (text.charAt(end) != '"' && text.charAt(end) != '\\') {
            end++;
        }
        String plain = text.substring(at, end);
        at = end;
        if (text.charAt(end) == '"') {
            at++;
            return plain;
        }
        StringBuilder out = new StringBuilder(plain);
        for (char unit = text.charAt(at++); unit != '"'; unit = text.charAt(at++)) {
            out.append(unit == '\\' ? escaped() : unit);
        }
        return out.toString();
    }

    private char escaped() {
        char letter = text.charAt(at++);
        int known = "\"\\/bfnrt".indexOf(letter);
        if (known >= 0) {
            return "\"\\/\b\f\n\r\t".charAt(known);
        }
        if (letter != 'u') {
            throw wrong("an escape");
        }
        at += 4;
        return (char) Integer.parseInt(text.substring(at - 4, at), 16);
    }

    private Object number() {
        int start = at;
        while (at < text.length() && "+-.eE0123456789".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
        String digits = text.substring(start, at);
        if (digits.isEmpty()) {
            throw wrong("a value");
        }
        if (digits.indexOf('.') >= 0 || digits.indexOf('e') >= 0 || digits.indexOf('E') >= 0) {
            return Double.valueOf(digits);
        }
        return digits.length() < 19 ? (Object) Long.valueOf(digits) : whole(new BigInteger(digits));
    }

    private static Object whole(BigInteger value) {
        return value.bitLength() < 64 ? (Object) value.longValue() : value;
    }

    private static void write(Object value, StringBuilder out) {
        if (value instanceof CharSequence || value instanceof Character) {
            quote(value.toString(), out);
        } else if (value instanceof Map) {
            char before = '{';
            for (Map.Entry<?, ?> entry : ((Map<?, ?>) value).entrySet()) {
                out.append(before);
                quote((String) entry.getKey(), out);
                write(entry.getValue(), out.append(':'));
                before = ',';
            }
            out.append(before == '{' ? "{}" : "}");
        } else if (value instanceof Iterable) {
            char before = '[';
            for (Object item : (Iterable<?>) value) {
                write(item, out.append(before));
                before = ',';
            }
            out.append(before == '[' ? "[]" : "]");
        } else {
            out.append(value);
        }
    }

    private static final char[] DIGITS = "0123456789abcdef".toCharArray();

    private static void quote(String text, StringBuilder out) {
        out.append('"');
        for (int i = 0; i < text.length(); i++) {
            char unit = text.charAt(i);
            if (unit == '"' || unit == '\\') {
                out.append('\\').append(unit);
            } else if (unit < ' ' || unit > '~') {
                out.append("\\u").append(DIGITS[unit >> 12]).append(DIGITS[unit >> 8 & 15]);
                out.append(DIGITS[unit >> 4 & 15]).append(DIGITS[unit & 15]);
            } else {
                out.append(unit);
            }
        }
        out.append('"');
    }
}
