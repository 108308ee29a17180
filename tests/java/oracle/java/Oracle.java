import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Answers questions about the released RocketMQ classes by running them: one JSON request a line, one JSON answer a line.
 *
 * Every answer has "ok"; a refusal has "error" (class of the exception), "message" and "cause".  Whatever a request does
 * to the classes, the next one is answered; only after one that never ends the process ends, and the answer has "ended".  A list of
 * answers ends there as well.  The operations are listed where they are implemented: Commands, Bodies,
 * Registrations, Stored, Texts, Signatures, Reflection, Clock, Platform; "batch" runs a list of requests and gives a list of answers.
 */
public final class Oracle {
    private final Map<String, Operation> operations = new HashMap<>();
    private final Watchdog watchdog = new Watchdog(this::giveUp);
    private final PrintStream out;
    private List<Object> batch;

    /** One thing that can be asked: puts its findings into the answer, or throws. */
    interface Operation {
        void perform(Request request, Map<String, Object> answer) throws Throwable;
    }

    private Oracle(PrintStream out) {
        this.out = out;
        operations.put("ping", (request, answer) -> answer.put("release", Classes.release()));
        Commands.register(operations);
        Bodies.register(operations);
        Registrations.register(operations);
        Stored.register(operations);
        Texts.register(operations);
        Signatures.register(operations);
        Reflection.register(operations);
        Clock.register(operations);
        Platform.register(operations);
    }

    public static void main(String[] ignored) throws Exception {
        PrintStream answers = new PrintStream(new FileOutputStream(FileDescriptor.out), false, StandardCharsets.US_ASCII);
        System.setOut(System.err); // what a library prints must not stand between the answers
        Oracle oracle = new Oracle(answers);
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8), 1 << 16);
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            oracle.print(oracle.answerLine(line));
        }
        Runtime.getRuntime().halt(0); // libraries leave threads behind
    }

    private String answerLine(String line) {
        try {
            return Json.write(answerAll(Json.read(line)));
        } catch (Throwable failure) { // for one that does not fit into memory as text
            return Json.write(refusal(failure));
        }
    }

    private Map<String, Object> answer(Object request) {
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("ok", true);
        try {
            Request asked = Request.of(request);
            Operation operation = operations.get(asked.text("op"));
            if (operation == null) {
                throw new IllegalArgumentException("no such operation: " + asked.text("op"));
            }
            operation.perform(asked, answer);
            return answer;
        } catch (Throwable failure) {
            return refusal(failure);
        }
    }

    static Map<String, Object> refusal(Throwable failure) {
        Throwable real = failure;
        while (real instanceof InvocationTargetException && real.getCause() != null) {
            real = real.getCause();
        }
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("ok", false);
        answer.put("error", real.getClass().getName());
        String message = String.valueOf(real.getMessage());
        answer.put("message", message.substring(0, Math.min(300, message.length())));
        answer.put("cause", real.getCause() == null ? null : real.getCause().getClass().getName());
        return answer;
    }

    private Map<String, Object> answerAll(Object question) {
        Request asked = Request.of(question);
        boolean several = "batch".equals(asked.text("op"));
        List<Object> answers = new ArrayList<>();
        batch = several ? answers : null;
        for (Object one : several ? asked.list("requests") : List.of(question)) {
            watchdog.begin();
            Map<String, Object> found = answer(one);
            watchdog.end(() -> answers.add(found));
        }
        return several ? batchOf(answers) : Request.of(answers.get(0)).members;
    }

    private static Map<String, Object> batchOf(List<Object> answers) {
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("ok", true);
        answer.put("answers", answers);
        return answer;
    }

    /** Answers in the place of a thread that never will. */
    private void giveUp() {
        Map<String, Object> answer = refusal(new Watchdog.NeverEnds());
        if (batch != null) {
            batch.add(answer);
            answer = batchOf(batch);
        }
        answer.put("ended", true);
        print(Json.write(answer));
        Runtime.getRuntime().halt(0);
    }

    private void print(String line) {
        out.print(line);
        out.print('\n');
        out.flush();
    }
}
