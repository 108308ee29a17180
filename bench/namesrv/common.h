/* What the load generator and the reference server share: time, topic names, growing buffers, reading a header. */
#ifndef ROCKETWIRE_BENCH_COMMON_H
#define ROCKETWIRE_BENCH_COMMON_H

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_FRAME = 16 * 1024 * 1024, NAME_SIZE = 96 };

static inline void die(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, errno ? strerror(errno) : "no sense in it");
    exit(1);
}

static inline uint64_t nanoseconds(clockid_t clock)
{
    struct timespec t;
    if (clock_gettime(clock, &t) != 0)
        return 0;
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* A well-spread function of an integer (the finalizer of splitmix64); bench/namesrv/routes.py has the same. */
static inline uint64_t spread(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* Name number `index` of a format: {i} is the number in five digits, {h} 24 hex digits that follow from it. */
static inline int topic_name(char *to, const char *format, int index)
{
    size_t n = 0;
    for (const char *f = format; *f != 0 && n < NAME_SIZE - 32; f++) {
        if (strncmp(f, "{i}", 3) == 0) {
            n += (size_t)sprintf(to + n, "%05d", index);
            f += 2;
        } else if (strncmp(f, "{h}", 3) == 0) {
            uint64_t a = spread((uint64_t)index), b = spread(a);
            n += (size_t)sprintf(to + n, "%016llx%08llx", (unsigned long long)a, (unsigned long long)(b >> 32));
            f += 2;
        } else {
            to[n++] = *f;
        }
    }
    to[n] = 0;
    return (int)n;
}

struct buffer {
    unsigned char *data;
    size_t start, end, size; /* what is in it lies from start to end */
};

/* Makes room for `more` bytes after the end. */
static inline void reserve(struct buffer *b, size_t more)
{
    if (b->start == b->end)
        b->start = b->end = 0;
    if (b->end + more <= b->size)
        return;
    if (b->start > 0) {
        memmove(b->data, b->data + b->start, b->end - b->start);
        b->end -= b->start;
        b->start = 0;
    }
    if (b->end + more > b->size) {
        size_t size = b->size ? b->size : 2048;
        while (size < b->end + more)
            size *= 2;
        b->data = realloc(b->data, size);
        if (b->data == NULL)
            die("realloc");
        b->size = size;
    }
}

static inline uint32_t get32(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static inline void put32(unsigned char *p, uint32_t v)
{
    p[0] = (unsigned char)(v >> 24);
    p[1] = (unsigned char)(v >> 16);
    p[2] = (unsigned char)(v >> 8);
    p[3] = (unsigned char)v;
}

/* The integer after "key": in a JSON header; `missing` where there is none. */
static inline long json_integer(const unsigned char *header, size_t size, const char *key, long missing)
{
    size_t length = strlen(key);
    const unsigned char *at = memmem(header, size, key, length), *end = header + size;
    if (at == NULL)
        return missing;
    at += length;
    while (at < end && *at == ' ')
        at++;
    long sign = 1, value = 0;
    if (at < end && *at == '-') {
        sign = -1;
        at++;
    }
    if (at >= end || *at < '0' || *at > '9')
        return missing;
    for (; at < end && *at >= '0' && *at <= '9' && value < 100000000000; at++)
        value = value * 10 + (*at - '0');
    return sign * value;
}

struct header {
    long code, flag, opaque;
};

/* Reads code, flag and opaque of a header of either form; -1 where one is missing. */
static inline struct header read_header(int type, const unsigned char *p, size_t size)
{
    struct header h = {-1, -1, -1};
    if (type == 0) {
        h.code = json_integer(p, size, "\"code\":", -1);
        h.flag = json_integer(p, size, "\"flag\":", -1);
        h.opaque = json_integer(p, size, "\"opaque\":", -1);
    } else if (size >= 13) { /* code 2, language 1, version 2, opaque 4, flag 4 */
        h.code = p[0] << 8 | p[1];
        h.opaque = (long)get32(p + 5);
        h.flag = (long)get32(p + 9);
    }
    return h;
}

#endif
