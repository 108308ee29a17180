import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import org.apache.rocketmq.filter.FilterFactory;
import org.apache.rocketmq.filter.expression.EvaluationContext;
import org.apache.rocketmq.filter.expression.Expression;

/**
 * SQL92 filters. A line has an expression and messages in base64, with spaces between them; a message is
 * name, 0x01, value, 0x02 and so on. The answer is "refused", or for each message T, F, N (null),
 * V (another value) or E (an exception).
 */
public final class Filters {
    public static void main(String[] arguments) throws Exception {
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        System.setOut(System.err);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            out.println(answer(line.split(" ", -1)));
        }
    }

    private static String text(String base64) {
        return new String(Base64.getDecoder().decode(base64), StandardCharsets.UTF_8);
    }

    private static String answer(String[] parts) {
        Expression expression;
        try {
            expression = FilterFactory.INSTANCE.get("SQL92").compile(text(parts[0]));
        } catch (Throwable refused) {
            return "refused";
        }
        StringBuilder answers = new StringBuilder();
        for (int number = 1; number < parts.length; number++) {
            Map<String, Object> properties = new HashMap<>();
            for (String property : text(parts[number]).split("\u0002")) {
                int end = property.indexOf('\u0001');
                if (end >= 0) {
                    properties.put(property.substring(0, end), property.substring(end + 1));
                }
            }
            answers.append(evaluate(expression, properties));
        }
        return answers.toString();
    }

    private static char evaluate(Expression expression, Map<String, Object> properties) {
        EvaluationContext context = new EvaluationContext() {
            @Override
            public Object get(String name) {
                return properties.get(name);
            }

            @Override
            public Map<String, Object> keyValues() {
                return properties;
            }
        };
        try {
            Object value = expression.evaluate(context);
            if (value == null) {
                return 'N';
            }
            return Boolean.TRUE.equals(value) ? 'T' : Boolean.FALSE.equals(value) ? 'F' : 'V';
        } catch (Throwable failure) {
            return 'E';
        }
    }
}
