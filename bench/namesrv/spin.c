/* Keeps its CPU from halting while latencies are measured on it; to be run with SCHED_IDLE.  spin SECONDS */
#include "common.h"

int main(int count, char **words)
{
    double seconds = count > 1 ? atof(words[1]) : 1;
    if (seconds <= 0 || seconds > 3600)
        return 2;
    uint64_t end = nanoseconds(CLOCK_MONOTONIC) + (uint64_t)(seconds * 1e9);
    while (nanoseconds(CLOCK_MONOTONIC) < end)
        for (volatile int i = 0; i < 10000; i++)
            ;
    return 0;
}
