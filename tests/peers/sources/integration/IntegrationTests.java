import java.io.OutputStream;
import java.io.PrintStream;
import org.junit.runner.Description;
import org.junit.runner.JUnitCore;
import org.junit.runner.Request;
import org.junit.runner.notification.Failure;
import org.junit.runner.notification.RunListener;

/**
 * Runs JUnit classes one after the other in this process.  The arguments are class names.  Each test prints one line of
 * four words with tabs between: class, method, {@code passed}, {@code failed} or {@code ignored}, milliseconds; a failed test
 * has its reason as a fifth.
 */
public class IntegrationTests {
    public static void main(String[] classes) throws Exception {
        PrintStream results = System.out;
        System.setOut(new PrintStream(OutputStream.nullOutputStream()));
        JUnitCore core = new JUnitCore();
        core.addListener(new Lines(results));
        for (String name : classes) {
            try {
                core.run(Request.aClass(Class.forName(name)));
            } catch (Throwable failure) {
                results.println(String.join("\t", name, "-", "failed", "0", Lines.reason(failure)));
            }
            results.println(String.join("\t", name, "-", "ended", "0"));
        }
        results.flush();
        Runtime.getRuntime().halt(0);
    }

    private static final class Lines extends RunListener {
        private final PrintStream results;
        private long started;
        private Throwable failure;

        Lines(PrintStream results) {
            this.results = results;
        }

        static String reason(Throwable failure) {
            String text = failure.toString().replaceAll("\\s+", " ");
            StackTraceElement[] trace = failure.getStackTrace();
            String place = "";
            for (StackTraceElement element : trace) {
                if (element.getClassName().endsWith("IT")) {
                    place = " at " + element;
                    break;
                }
            }
            return text.substring(0, Math.min(400, text.length())) + place;
        }

        private void print(Description test, String outcome, String... more) {
            long took = System.currentTimeMillis() - started;
            String method = test.getMethodName() == null ? "-" : test.getMethodName();
            String line = String.join("\t", test.getClassName(), method, outcome, Long.toString(took));
            results.println(more.length == 0 ? line : line + "\t" + more[0]);
            results.flush();
        }

        @Override
        public void testStarted(Description test) {
            started = System.currentTimeMillis();
            failure = null;
        }

        @Override
        public void testFailure(Failure failed) {
            failure = failed.getException();
            if (!failed.getDescription().isTest()) {
                started = System.currentTimeMillis();
                print(failed.getDescription(), "failed", reason(failure));
            }
        }

        @Override
        public void testAssumptionFailure(Failure failed) {
            failure = null;
        }

        @Override
        public void testIgnored(Description test) {
            started = System.currentTimeMillis();
            print(test, "ignored");
        }

        @Override
        public void testFinished(Description test) {
            if (failure == null) {
                print(test, "passed");
            } else {
                print(test, "failed", reason(failure));
            }
        }
    }
}
