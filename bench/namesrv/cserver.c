/*
 * The floor: what a plain epoll server in C needs to answer route requests from memory, one thread, no sharing.
 *
 * cserver PORT [FORMAT COUNT BODYFILE]...  answers GET_ROUTEINFO_BY_TOPIC (105) for COUNT topics of each FORMAT with the bytes in
 * BODYFILE, and everything else with code 0 and no body (so a registration is read and dropped).  It handles all complete
 * frames of a read, sends once, and does not read from a peer that does not read its answers.
 */
#include "common.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { READ_SIZE = 65536, EVENTS = 256, GET_ROUTEINFO = 105, TOPIC_NOT_EXIST = 17 };

struct body {
    unsigned char *data;
    size_t size;
};

struct entry {
    char *name;
    size_t length;
    const struct body *body;
};

static struct entry *table;
static size_t table_size = 1 << 12, table_count;

static size_t place(const struct entry *in, size_t size, const char *name, size_t length)
{
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)name[i]) * 1099511628211u;
    size_t at = hash & (size - 1);
    while (in[at].name != NULL && (in[at].length != length || memcmp(in[at].name, name, length) != 0))
        at = (at + 1) & (size - 1);
    return at;
}

static void add(const char *name, size_t length, const struct body *body)
{
    if (table == NULL || table_count * 2 > table_size) {
        size_t size = table == NULL ? table_size : table_size * 2;
        struct entry *bigger = calloc(size, sizeof *bigger);
        if (bigger == NULL)
            die("calloc");
        for (size_t i = 0; table != NULL && i < table_size; i++)
            if (table[i].name != NULL)
                bigger[place(bigger, size, table[i].name, table[i].length)] = table[i];
        free(table);
        table = bigger;
        table_size = size;
    }
    struct entry *e = table + place(table, table_size, name, length);
    table_count += e->name == NULL;
    *e = (struct entry){strndup(name, length), length, body};
}

static void add_routes(const char *format, int count, const char *path)
{
    struct body *body = calloc(1, sizeof *body);
    FILE *file = fopen(path, "rb");
    if (body == NULL || file == NULL)
        die(path);
    struct buffer b = {0};
    do {
        reserve(&b, READ_SIZE);
        b.end += fread(b.data + b.end, 1, READ_SIZE, file);
    } while (!feof(file) && !ferror(file));
    fclose(file);
    body->data = b.data;
    body->size = b.end;
    char name[NAME_SIZE];
    for (int i = 0; i < count; i++)
        add(name, (size_t)topic_name(name, format, i), body);
}

/* The answer to a request: its topic is the text after the key, in either form of header. */
static const struct body *route(int type, const unsigned char *header, size_t size)
{
    const char *key = type == 0 ? "\"topic\":" : "\0\5topic";
    size_t key_size = type == 0 ? 8 : 7;
    const unsigned char *at = memmem(header, size, key, key_size), *end = header + size;
    if (at == NULL || table == NULL)
        return NULL;
    at += key_size;
    size_t length;
    if (type == 0) {
        while (at < end && *at == ' ')
            at++;
        if (at == end || *at++ != '"')
            return NULL;
        const unsigned char *quote = memchr(at, '"', (size_t)(end - at));
        if (quote == NULL)
            return NULL;
        length = (size_t)(quote - at);
    } else {
        if (end - at < 4 || get32(at) > (size_t)(end - at - 4))
            return NULL;
        length = get32(at);
        at += 4;
    }
    return table[place(table, table_size, (const char *)at, length)].body;
}

struct connection {
    int fd, blocked;
    struct buffer in, out;
};

static int poller;

static void answer(struct connection *c, const unsigned char *frame)
{
    uint32_t mark = get32(frame + 4), size = mark & 0xffffff;
    int type = (int)(mark >> 24);
    struct header h = read_header(type, frame + 8, size);
    const struct body *body = h.code == GET_ROUTEINFO ? route(type, frame + 8, size) : NULL;
    size_t body_size = body == NULL ? 0 : body->size;
    int code = h.code == GET_ROUTEINFO && body == NULL ? TOPIC_NOT_EXIST : 0;
    reserve(&c->out, 256 + body_size);
    unsigned char *to = c->out.data + c->out.end;
    int header = sprintf((char *)to + 8,
                         "{\"code\":%d,\"flag\":1,\"language\":\"JAVA\",\"opaque\":%ld,"
                         "\"serializeTypeCurrentRPC\":\"JSON\",\"version\":513}",
                         code, h.opaque);
    put32(to, (uint32_t)(4 + (size_t)header + body_size));
    put32(to + 4, (uint32_t)header);
    if (body_size > 0)
        memcpy(to + 8 + header, body->data, body_size);
    c->out.end += 8 + (size_t)header + body_size;
}

static void drop(struct connection *c)
{
    close(c->fd);
    free(c->in.data);
    free(c->out.data);
    free(c);
}

static void watch(struct connection *c, int blocked)
{
    struct epoll_event e = {.events = blocked ? EPOLLOUT : EPOLLIN, .data.ptr = c};
    if (c->blocked != blocked && epoll_ctl(poller, EPOLL_CTL_MOD, c->fd, &e) != 0)
        die("epoll_ctl");
    c->blocked = blocked;
}

/* Sends what there is; returns whether the connection is still there. */
static int flush(struct connection *c)
{
    while (c->out.start < c->out.end) {
        ssize_t n = send(c->fd, c->out.data + c->out.start, c->out.end - c->out.start, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && errno == EAGAIN) {
            watch(c, 1);
            return 1;
        }
        if (n < 0) {
            drop(c);
            return 0;
        }
        c->out.start += (size_t)n;
    }
    watch(c, 0);
    return 1;
}

static void receive(struct connection *c)
{
    reserve(&c->in, READ_SIZE);
    ssize_t n = recv(c->fd, c->in.data + c->in.end, READ_SIZE, MSG_DONTWAIT);
    if (n < 0 && errno == EAGAIN)
        return;
    if (n <= 0) {
        drop(c);
        return;
    }
    c->in.end += (size_t)n;
    while (c->in.end - c->in.start >= 8) {
        const unsigned char *frame = c->in.data + c->in.start;
        uint32_t length = get32(frame), header = get32(frame + 4) & 0xffffff;
        if (length > MAX_FRAME - 4 || length < 4 || header > length - 4) {
            drop(c);
            return;
        }
        if (c->in.end - c->in.start < 4 + (size_t)length)
            break;
        answer(c, frame);
        c->in.start += 4 + (size_t)length;
    }
    if (c->in.start == c->in.end && c->in.size > 2 * READ_SIZE) { /* a large frame is over */
        free(c->in.data);
        c->in = (struct buffer){0};
    }
    flush(c);
}

static void admit(int listener)
{
    int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC), one = 1;
    if (fd < 0)
        return;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    struct connection *c = calloc(1, sizeof *c);
    if (c == NULL)
        die("calloc");
    c->fd = fd;
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = c};
    if (epoll_ctl(poller, EPOLL_CTL_ADD, fd, &e) != 0)
        die("epoll_ctl");
}

static int listen_on(int port)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), one = 1;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof at) != 0 || listen(fd, 1024) != 0)
        die("listen");
    return fd;
}

int main(int count, char **words)
{
    if (count < 2 || (count - 2) % 3 != 0) {
        fprintf(stderr, "cserver PORT [FORMAT COUNT BODYFILE]...\n");
        return 2;
    }
    for (int i = 2; i < count; i += 3)
        add_routes(words[i], atoi(words[i + 1]), words[i + 2]);
    int listener = listen_on(atoi(words[1]));
    poller = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = NULL}, events[EVENTS];
    if (epoll_ctl(poller, EPOLL_CTL_ADD, listener, &e) != 0)
        die("epoll_ctl");
    for (;;) {
        int n = epoll_wait(poller, events, EVENTS, -1);
        for (int i = 0; i < n; i++) {
            struct connection *c = events[i].data.ptr;
            if (c == NULL)
                admit(listener);
            else if (events[i].events & EPOLLOUT)
                flush(c); /* what it has sent meanwhile is still there afterwards */
            else
                receive(c);
        }
    }
}
