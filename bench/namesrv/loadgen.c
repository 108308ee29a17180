/*
 * Load generator: GET_ROUTEINFO_BY_TOPIC (105) to a name server on loopback, one thread, one epoll.
 *
 * Closed loop (no -r): every connection keeps `depth` requests under way.  Open loop (-r RATE): requests are due at a fixed
 * rate whatever the answers do, and a latency counts from when its request was due.  Every answer is checked: an outstanding
 * opaque, the response bit, code 0, a body.  Answers may come in any order: an opaque names a slot of its connection and
 * which use of that slot it is.
 *
 * The window that is measured begins after -w seconds and lasts -t seconds.  At both its ends the CPU clocks of the server (-P) and
 * of other processes of the benchmark (-x) and the busy time of the machine are read here, so that all figures are of
 * the same window.  One line of JSON comes out; the run never takes longer than warm-up + window + DRAIN_SECONDS.
 */
#include "common.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MAX_SLOTS = 1 << 16, MAX_CONNECTIONS = 10000, MAX_DEPTH = 4096, MAX_KNOWN = 16, BURST = 256 };
#define DRAIN_SECONDS 2
#define RECEIVE_SIZE 262144

/* ---- options */

static int port, connections = 50, depth = 1, topics = 1000, binary, version = 513, standard_only;
static double seconds = 3, warm = 0.3, rate;
static const char *format = "Topic-{i}";
static pid_t server, known[MAX_KNOWN];
static int known_count;

/* ---- latencies: buckets of 1/128 of a power of two of nanoseconds */

enum { SUB_BITS = 7, SUB = 1 << SUB_BITS, BUCKETS = (64 - SUB_BITS) * SUB };
static uint64_t histogram[BUCKETS], recorded, longest;

static void record(uint64_t latency)
{
    unsigned index;
    if (latency < SUB) {
        index = (unsigned)latency;
    } else {
        unsigned shift = 63u - (unsigned)__builtin_clzll(latency) - SUB_BITS;
        index = (shift + 1) * SUB + (unsigned)((latency >> shift) & (SUB - 1));
    }
    histogram[index]++;
    recorded++;
    if (latency > longest)
        longest = latency;
}

/* Microseconds that `share` of the latencies do not exceed (the middle of the bucket). */
static double quantile(double share)
{
    uint64_t wanted = (uint64_t)(share * (double)recorded + 0.999999), seen = 0;
    for (unsigned i = 0; i < BUCKETS; i++) {
        seen += histogram[i];
        if (seen >= wanted && seen > 0) {
            if (i < SUB)
                return i / 1e3;
            unsigned shift = i / SUB - 1;
            uint64_t low = ((uint64_t)SUB + i % SUB) << shift;
            double middle = (double)low + (double)((uint64_t)1 << shift) / 2;
            return (middle < (double)longest ? middle : (double)longest) / 1e3;
        }
    }
    return 0;
}

/* ---- requests, prepared up to the opaque */

struct request {
    unsigned char bytes[320];
    int head; /* bytes before the opaque, the 8 of the envelope among them */
};
static struct request *requests;
static char tail[96];
static int tail_size;

static void prepare(void)
{
    char name[NAME_SIZE];
    requests = calloc((size_t)topics, sizeof *requests);
    if (requests == NULL)
        die("calloc");
    const char *standard = standard_only ? "\"acceptStandardJsonOnly\":\"true\"," : "";
    tail_size = sprintf(tail, ",\"serializeTypeCurrentRPC\":\"JSON\",\"version\":%d}", version);
    for (int i = 0; i < topics; i++) {
        topic_name(name, format, i);
        struct request *r = requests + i;
        if (!binary) {
            r->head = 8 + sprintf((char *)r->bytes + 8,
                                  "{\"code\":105,\"extFields\":{%s\"topic\":\"%s\"},\"flag\":0,\"language\":\"JAVA\",\"opaque\":",
                                  standard, name);
            continue;
        }
        unsigned char *p = r->bytes + 8, *fixed = p;
        memset(fixed, 0, 21);
        fixed[1] = 105;
        fixed[3] = (unsigned char)(version >> 8);
        fixed[4] = (unsigned char)version;
        p += 21;
        const char *keys[] = {"topic", "acceptStandardJsonOnly"}, *values[] = {name, "true"};
        for (int k = 0; k <= standard_only; k++) {
            size_t key = strlen(keys[k]), value = strlen(values[k]);
            *p++ = 0;
            *p++ = (unsigned char)key;
            memcpy(p, keys[k], key);
            put32(p + key, (uint32_t)value);
            memcpy(p + key + 4, values[k], value);
            p += key + 4 + value;
        }
        put32(fixed + 17, (uint32_t)(p - fixed - 21));
        r->head = (int)(p - r->bytes); /* whole: the opaque is patched inside */
        put32(r->bytes, (uint32_t)(r->head - 4));
        put32(r->bytes + 4, (uint32_t)(r->head - 8) | 1u << 24);
    }
}

static int write_request(unsigned char *to, const struct request *r, uint32_t opaque)
{
    memcpy(to, r->bytes, (size_t)r->head);
    if (binary) {
        put32(to + 8 + 5, opaque);
        return r->head;
    }
    unsigned char digits[10], *d = digits + 10;
    do {
        *--d = (unsigned char)('0' + opaque % 10);
        opaque /= 10;
    } while (opaque);
    int count = (int)(digits + 10 - d), size = r->head + count + tail_size;
    memcpy(to + r->head, d, (size_t)count);
    memcpy(to + r->head + count, tail, (size_t)tail_size);
    put32(to, (uint32_t)(size - 4));
    put32(to + 4, (uint32_t)(size - 8));
    return size;
}

/* ---- connections */

struct slot {
    uint64_t since; /* 0: free */
    uint32_t opaque;
    int next_free;
};

struct connection {
    int fd, wants_out, slot_count, free_slot;
    struct slot *slots;
    struct buffer in, out;
};

static struct connection *all;
static int poller;
static uint64_t chance = 88172645463325252u, answered, bytes_in, sent, begin, finish, window_begin;
static uint64_t bad_opaque, bad_flag, bad_code, bad_body, dropped;
static int outstanding, slot_bits;

static int random_topic(void)
{
    chance ^= chance << 13;
    chance ^= chance >> 7;
    chance ^= chance << 17;
    return (int)((chance >> 33) % (uint64_t)topics);
}

static void watch(struct connection *c, int out)
{
    struct epoll_event e = {.events = EPOLLIN | (out ? EPOLLOUT : 0), .data.ptr = c};
    if (c->wants_out != out && epoll_ctl(poller, EPOLL_CTL_MOD, c->fd, &e) != 0)
        die("epoll_ctl");
    c->wants_out = out;
}

static void flush(struct connection *c)
{
    while (c->out.start < c->out.end) {
        ssize_t n = send(c->fd, c->out.data + c->out.start, c->out.end - c->out.start, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && errno == EAGAIN) {
            watch(c, 1);
            return;
        }
        if (n < 0)
            die("send");
        c->out.start += (size_t)n;
    }
    watch(c, 0);
}

/* Puts one request into the connection's buffer, to be flushed; `due` is what its latency counts from. */
static void ask(struct connection *c, uint64_t due)
{
    int index = c->free_slot;
    if (index < 0) { /* so far behind that there is no telling */
        dropped++;
        return;
    }
    struct slot *s = c->slots + index;
    c->free_slot = s->next_free;
    s->since = due;
    s->opaque = (s->opaque + (1u << slot_bits)) & 0x7fffffff;
    reserve(&c->out, 512);
    c->out.end += (size_t)write_request(c->out.data + c->out.end, requests + random_topic(), s->opaque);
    outstanding++;
    sent++;
}

static void connect_all(void)
{
    int slots = rate > 0 ? MAX_SLOTS / connections : depth;
    if (slots < 64 && rate > 0)
        slots = 64;
    for (slot_bits = 0; 1 << slot_bits < slots; slot_bits++)
        ;
    all = calloc((size_t)connections, sizeof *all);
    for (int i = 0; i < connections; i++) {
        struct connection *c = all + i;
        struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
        struct timeval limit = {.tv_sec = 5};
        int one = 1;
        to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        setsockopt(c->fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
        if (c->fd < 0 || connect(c->fd, (struct sockaddr *)&to, sizeof to) != 0)
            die("connect");
        setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        fcntl(c->fd, F_SETFL, O_NONBLOCK);
        c->slot_count = slots;
        c->slots = calloc((size_t)slots, sizeof *c->slots);
        for (int k = 0; k < slots; k++) {
            c->slots[k].opaque = (uint32_t)k;
            c->slots[k].next_free = k + 1 < slots ? k + 1 : -1;
        }
        struct epoll_event e = {.events = EPOLLIN, .data.ptr = c};
        if (epoll_ctl(poller, EPOLL_CTL_ADD, c->fd, &e) != 0)
            die("epoll_ctl");
    }
}

/* One answer; returns whether it freed a slot. */
static int take(struct connection *c, const unsigned char *frame, uint32_t length, uint64_t now)
{
    uint32_t mark = get32(frame + 4), header = mark & 0xffffff;
    if (header > length - 4)
        die("an answer with a header longer than itself");
    struct header h = read_header((int)(mark >> 24), frame + 8, header);
    uint32_t index = (uint32_t)h.opaque & ((1u << slot_bits) - 1);
    if (h.opaque < 0 || index >= (uint32_t)c->slot_count || c->slots[index].since == 0 ||
        c->slots[index].opaque != (uint32_t)h.opaque) {
        bad_opaque++;
        return 0;
    }
    struct slot *s = c->slots + index;
    bad_flag += h.flag < 0 || !(h.flag & 1);
    bad_code += h.code != 0;
    bad_body += length - 4 == header;
    if (s->since >= window_begin && now >= window_begin)
        record(now - s->since);
    answered += now < finish;
    s->since = 0;
    s->next_free = c->free_slot;
    c->free_slot = (int)index;
    outstanding--;
    return 1;
}

static void receive(struct connection *c, int again)
{
    reserve(&c->in, RECEIVE_SIZE);
    ssize_t n = recv(c->fd, c->in.data + c->in.end, RECEIVE_SIZE, MSG_DONTWAIT);
    if (n < 0 && errno == EAGAIN)
        return;
    if (n <= 0) {
        fprintf(stderr, "the server closed a connection\n");
        exit(1);
    }
    c->in.end += (size_t)n;
    bytes_in += (uint64_t)n;
    uint64_t now = nanoseconds(CLOCK_MONOTONIC);
    int freed = 0;
    while (c->in.end - c->in.start >= 8) {
        uint32_t length = get32(c->in.data + c->in.start);
        if (length < 4 || length > MAX_FRAME)
            die("an answer of impossible length");
        if (c->in.end - c->in.start < 4 + (size_t)length)
            break;
        freed += take(c, c->in.data + c->in.start, length, now);
        c->in.start += 4 + (size_t)length;
    }
    if (again && freed) {
        while (freed-- > 0)
            ask(c, now);
        flush(c);
    }
}

/* ---- the machine at both ends of the window */

struct reading {
    uint64_t at, server, self, known, busy;
};

static uint64_t cpu_of(pid_t pid)
{
    clockid_t clock;
    return pid > 0 && clock_getcpuclockid(pid, &clock) == 0 ? nanoseconds(clock) : 0;
}

/* Busy nanoseconds of all CPUs since boot, what a hypervisor took among them. */
static uint64_t busy(void)
{
    unsigned long long user = 0, nice = 0, system = 0, idle, wait, irq = 0, soft = 0, steal = 0;
    FILE *f = fopen("/proc/stat", "r");
    if (f == NULL || fscanf(f, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &user, &nice, &system, &idle, &wait, &irq,
                            &soft, &steal) != 8)
        die("/proc/stat");
    fclose(f);
    return (user + nice + system + irq + soft + steal) * (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK));
}

static struct reading look(void)
{
    struct reading r = {.at = nanoseconds(CLOCK_MONOTONIC), .server = cpu_of(server)};
    r.self = nanoseconds(CLOCK_PROCESS_CPUTIME_ID);
    r.busy = busy();
    for (int i = 0; i < known_count; i++)
        r.known += cpu_of(known[i]);
    return r;
}

/* ---- the run */

static void pump(uint64_t wait, int again)
{
    struct epoll_event events[BURST];
    struct timespec limit = {.tv_sec = (time_t)(wait / 1000000000u), .tv_nsec = (long)(wait % 1000000000u)};
    int n = epoll_pwait2(poller, events, BURST, &limit, NULL);
    for (int i = 0; i < n; i++) {
        struct connection *c = events[i].data.ptr;
        if (events[i].events & EPOLLOUT)
            flush(c);
        if (events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR))
            receive(c, again);
    }
}

/* Runs until `end`; in an open loop `due` says when the next request is. */
static void run_until(uint64_t end, double *due)
{
    static int turn;
    for (uint64_t now; (now = nanoseconds(CLOCK_MONOTONIC)) < end;) {
        uint64_t until = end;
        if (rate > 0) {
            for (int i = 0; *due <= (double)now && i < BURST; i++, *due += 1e9 / rate) {
                struct connection *c = all + turn++ % connections;
                ask(c, (uint64_t)*due);
                flush(c);
            }
            if (*due < (double)until)
                until = (uint64_t)*due;
        }
        now = nanoseconds(CLOCK_MONOTONIC);
        pump(until > now ? until - now : 0, rate <= 0);
    }
}

/* What was never answered is at least as old as it is. */
static int record_unanswered(void)
{
    uint64_t now = nanoseconds(CLOCK_MONOTONIC);
    int count = 0;
    for (int i = 0; i < connections; i++)
        for (int k = 0; k < all[i].slot_count; k++)
            if (all[i].slots[k].since >= window_begin) {
                record(now - all[i].slots[k].since);
                count++;
            }
    return count;
}

static void options(int count, char **words)
{
    for (int o; (o = getopt(count, words, "p:c:d:t:w:r:bv:f:n:sP:x:")) > 0;)
        switch (o) {
        case 'p': port = atoi(optarg); break;
        case 'c': connections = atoi(optarg); break;
        case 'd': depth = atoi(optarg); break;
        case 't': seconds = atof(optarg); break;
        case 'w': warm = atof(optarg); break;
        case 'r': rate = atof(optarg); break;
        case 'b': binary = 1; break;
        case 'v': version = atoi(optarg); break;
        case 'f': format = optarg; break;
        case 'n': topics = atoi(optarg); break;
        case 's': standard_only = 1; break;
        case 'P': server = atoi(optarg); break;
        case 'x':
            if (known_count < MAX_KNOWN)
                known[known_count++] = atoi(optarg);
            break;
        default: exit(2);
        }
    if (port <= 0 || connections < 1 || connections > MAX_CONNECTIONS || depth < 1 || depth > MAX_DEPTH || topics < 1 ||
        seconds <= 0 || seconds > 600 || warm < 0 || warm > 600 || rate < 0 || strlen(format) > NAME_SIZE - 32) {
        fprintf(stderr,
                "loadgen -p PORT [-c CONNECTIONS] [-d DEPTH | -r RATE] [-t SECONDS] [-w WARM_SECONDS] [-b] [-v VERSION]\n"
                "        [-f FORMAT] [-n TOPICS] [-s] [-P SERVER_PID] [-x OTHER_PID]...\n"
                "-b: ROCKETMQ headers; -s: acceptStandardJsonOnly; {i} and {h} in FORMAT: number, hex digits\n");
        exit(2);
    }
}

int main(int count, char **words)
{
    options(count, words);
    prepare();
    poller = epoll_create1(EPOLL_CLOEXEC);
    connect_all();
    begin = nanoseconds(CLOCK_MONOTONIC);
    window_begin = begin + (uint64_t)(warm * 1e9);
    finish = window_begin + (uint64_t)(seconds * 1e9);
    double due = (double)begin;
    if (rate <= 0)
        for (int i = 0; i < connections; i++) {
            for (int k = 0; k < depth; k++)
                ask(all + i, begin);
            flush(all + i);
        }
    run_until(window_begin, &due);
    struct reading a = look();
    answered = bytes_in = sent = 0;
    run_until(finish, &due);
    uint64_t in_window = answered, bytes_window = bytes_in, sent_window = sent;
    struct reading b = look();
    int unanswered = 0;
    if (rate > 0) {
        uint64_t limit = finish + (uint64_t)DRAIN_SECONDS * 1000000000u;
        while (outstanding > 0 && nanoseconds(CLOCK_MONOTONIC) < limit)
            pump(1000000, 0);
        unanswered = record_unanswered();
    }
    double elapsed = (double)(b.at - a.at) / 1e9;
    printf("{\"answers\":%llu,\"sent\":%llu,\"seconds\":%.6f,\"bytes\":%llu,\"p50\":%.1f,\"p90\":%.1f,\"p99\":%.1f,\"p999\":%.1f,"
           "\"max\":%.1f,\"bad_opaque\":%llu,\"bad_flag\":%llu,\"bad_code\":%llu,\"bad_body\":%llu,\"dropped\":%llu,"
           "\"unanswered\":%d,\"server_cpu\":%.6f,\"self_cpu\":%.6f,\"known_cpu\":%.6f,\"busy\":%.6f}\n",
           (unsigned long long)in_window, (unsigned long long)sent_window, elapsed, (unsigned long long)bytes_window,
           quantile(.5), quantile(.9), quantile(.99), quantile(.999), (double)longest / 1e3,
           (unsigned long long)bad_opaque, (unsigned long long)bad_flag, (unsigned long long)bad_code,
           (unsigned long long)bad_body, (unsigned long long)dropped, unanswered, (double)(b.server - a.server) / 1e9,
           (double)(b.self - a.self) / 1e9, (double)(b.known - a.known) / 1e9, (double)(b.busy - a.busy) / 1e9);
    return 0;
}
