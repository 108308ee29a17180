import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * Looks after the thread that answers, and acts when a question never ends.
 *
 * What counts is the time that the thread has had of a processor, so that a busy machine makes no difference.  There is no way to end
 * a thread: whoever is told has to end the process.
 */
final class Watchdog {
    private static final long LIMIT = 1_000_000_000L * Integer.getInteger("oracle.seconds", 10);
    private static final long GLANCE_MILLIS = 100;
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private final Thread watched = Thread.currentThread();
    private final Runnable bark;
    private boolean busy;
    private long began;

    /** Looks after the present thread; {@code bark} runs in another one, while this one can neither begin nor end a question. */
    Watchdog(Runnable bark) {
        this.bark = bark;
        Thread thread = new Thread(this::watch, "watchdog");
        thread.setDaemon(true);
        thread.start();
    }

    /** A question begins. */
    synchronized void begin() {
        began = THREADS.getCurrentThreadCpuTime();
        busy = true;
    }

    /** It has ended; {@code keep} takes what has come of it. */
    synchronized void end(Runnable keep) {
        busy = false;
        keep.run();
    }

    private void watch() {
        try {
            while (!look()) {
                Thread.sleep(GLANCE_MILLIS);
            }
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
        }
    }

    private synchronized boolean look() {
        boolean late = busy && THREADS.getThreadCpuTime(watched.getId()) - began > LIMIT;
        if (late) {
            bark.run();
        }
        return late;
    }

    /** Says of a question that it never ends. */
    static final class NeverEnds extends Error {
        NeverEnds() {
            super("not within " + LIMIT / 1_000_000_000L + " seconds of a processor");
        }
    }
}
