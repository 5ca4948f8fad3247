/* Copies with streaming stores, for destinations that nobody reads soon.
 *
 * Promise: plain memory to plain memory; no allocation, no system call, and of libc only memcpy, so
 * that one shared object loads into any process of its architecture, whatever its C library.
 *
 * Ordinary stores read every line of the destination into the cache before they overwrite it: a third
 * of all memory traffic, for nothing. glibc streams too, but only above a threshold that copies of
 * single parameters do not reach, and its threshold belongs to the whole process.
 */
#include <stddef.h>
#include <stdint.h>

extern void *memcpy(void *restrict target, const void *restrict source, size_t length);

/* Raised with every change of what follows; streaming.py refuses a library of another number. */
#define INTERFACE 1

struct piece {
    unsigned char *target;
    const unsigned char *source;
    size_t length;
};

#if defined(__x86_64__)
#include <emmintrin.h> /* SSE2 is part of every x86-64; AVX2 was measured and gains nothing. */

enum {
    LINE = 64,
    PAGE = 4096,
    PAGES = 4,               /* in turn: keeps four streams of the memory controller busy; 1.2 x one */
    WORTH_STREAMING = 65536, /* smaller copies stay in the cache anyway */
};

static inline void stream_line(unsigned char *target, const unsigned char *source)
{
    const __m128i *from = (const __m128i *)source;
    __m128i *to = (__m128i *)target;
    __m128i a = _mm_loadu_si128(from), b = _mm_loadu_si128(from + 1);
    __m128i c = _mm_loadu_si128(from + 2), d = _mm_loadu_si128(from + 3);
    _mm_stream_si128(to, a);
    _mm_stream_si128(to + 1, b);
    _mm_stream_si128(to + 2, c);
    _mm_stream_si128(to + 3, d);
}

static void copy_piece(const struct piece *piece)
{
    unsigned char *target = piece->target;
    const unsigned char *source = piece->source;
    size_t left = piece->length;

    if (left >= WORTH_STREAMING) {
        size_t head = -(uintptr_t)target % LINE; /* streaming stores need aligned targets */
        memcpy(target, source, head);
        target += head, source += head, left -= head;
        for (; left >= PAGES * PAGE; left -= PAGES * PAGE) {
            for (size_t line = 0; line < PAGE; line += LINE)
                for (size_t page = 0; page < PAGES * PAGE; page += PAGE)
                    stream_line(target + page + line, source + page + line);
            target += PAGES * PAGE, source += PAGES * PAGE;
        }
    }
    memcpy(target, source, left);
}

static void settle(void) { _mm_sfence(); } /* streamed bytes are seen by whoever is told next */

#else

static void copy_piece(const struct piece *piece)
{
    memcpy(piece->target, piece->source, piece->length);
}

static void settle(void) {}

#endif

int weightrollout_interface(void) { return INTERFACE; }

/* Copy pieces until none is left. Threads that call this with one `next` share the work; a caller that
 * sets `next` to `count` stops all of them after their present piece. */
void weightrollout_copy(const struct piece *pieces, size_t count, size_t *next)
{
    for (;;) {
        size_t mine = __atomic_fetch_add(next, 1, __ATOMIC_RELAXED);
        if (mine >= count)
            break;
        copy_piece(&pieces[mine]);
    }
    settle();
}
