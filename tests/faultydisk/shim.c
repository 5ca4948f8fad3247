/* LD_PRELOAD: makes file calls on paths with a prefix fail or take long, as a rules file says.
 *
 * Each line of the file that WR_FAULTY_DISK names: CALL ERRNO SKIP COUNT DELAY_MS PREFIX
 * The first SKIP calls that match go through, the next COUNT fail (0: all). ERRNO 0 only delays; -1, of
 * flock: everybody is given the lock, as on a network file system that is mounted without them.
 * The file is read again when it changes, and all counts then start anew.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MOST 16
struct rule { char call[24]; int error; long skip, count, delay_ms, seen; char prefix[1024]; };
static struct rule rules[MOST];
static int rule_count;
static struct timespec read_at;
static ino_t read_inode;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread int inside;

#define REAL(name) ({ static __typeof__(&name) real; \
    if (!real) \
        real = (__typeof__(&name))dlsym(RTLD_NEXT, #name); \
    real; })

static void read_rules(const char *path) {
    struct stat now;
    if (stat(path, &now) || (now.st_ino == read_inode && !memcmp(&now.st_mtim, &read_at, sizeof read_at)))
        return;
    read_at = now.st_mtim, read_inode = now.st_ino, rule_count = 0;
    FILE *file = fopen(path, "re");
    while (file && rule_count < MOST) {
        struct rule *to = &rules[rule_count];
        memset(to, 0, sizeof *to);
        if (fscanf(file, "%23s %d %ld %ld %ld %1023s", to->call, &to->error, &to->skip, &to->count,
                   &to->delay_ms, to->prefix) != 6)
            break;
        rule_count++;
    }
    if (file) fclose(file);
}

/* 0, or the errno that this call is to fail with. */
static int fault(const char *call, int fd, const char *path) {
    const char *file = getenv("WR_FAULTY_DISK");
    char named[1024];
    int error = 0;
    long delay_ms = 0;
    if (inside || !file) return 0;
    inside = 1;
    pthread_mutex_lock(&lock);
    read_rules(file);
    for (int i = 0; i < rule_count && !error; i++) {
        struct rule *rule = &rules[i];
        if (strcmp(rule->call, call)) continue;
        if (!path) {
            char link[40];
            snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
            ssize_t size = readlink(link, named, sizeof named - 1);
            if (size < 0) break;
            named[size] = 0, path = named;
        }
        if (strncmp(path, rule->prefix, strlen(rule->prefix))) continue;
        rule->seen++;
        if (rule->seen <= rule->skip || (rule->count && rule->seen > rule->skip + rule->count)) continue;
        error = rule->error, delay_ms += rule->delay_ms;
    }
    pthread_mutex_unlock(&lock);
    if (delay_ms) nanosleep(&(struct timespec){delay_ms / 1000, delay_ms % 1000 * 1000000}, NULL);
    inside = 0;
    return error;
}

#define FAIL(call, fd, path) do { int e = fault(call, fd, path); if (e) { errno = e; return -1; } } while (0)
#define OPEN(name) int name(const char *path, int flags, ...) { \
    va_list more; va_start(more, flags); mode_t mode = va_arg(more, mode_t); va_end(more); \
    FAIL(flags & (O_WRONLY | O_RDWR) ? "create" : "open", -1, path); \
    return REAL(name)(path, flags, mode); }
OPEN(open)
OPEN(open64)

ssize_t read(int fd, void *data, size_t size) { FAIL("read", fd, NULL); return REAL(read)(fd, data, size); }
ssize_t write(int fd, const void *data, size_t size) { FAIL("write", fd, NULL); return REAL(write)(fd, data, size); }
ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at) { FAIL("pwrite", fd, NULL); return REAL(pwrite64)(fd, data, size, at); }
ssize_t pwrite(int fd, const void *data, size_t size, off_t at) { FAIL("pwrite", fd, NULL); return REAL(pwrite)(fd, data, size, at); }
int fsync(int fd) { FAIL("fsync", fd, NULL); return REAL(fsync)(fd); }
int posix_fallocate64(int fd, off64_t at, off64_t size) { int e = fault("fallocate", fd, NULL); return e ? e : REAL(posix_fallocate64)(fd, at, size); }
int posix_fallocate(int fd, off_t at, off_t size) { int e = fault("fallocate", fd, NULL); return e ? e : REAL(posix_fallocate)(fd, at, size); }
int flock(int fd, int operation) {
    int e = fault("flock", fd, NULL);
    if (e > 0) errno = e;
    return e ? (e > 0 ? -1 : 0) : REAL(flock)(fd, operation);
}
int rename(const char *from, const char *to) { FAIL("rename", -1, to); return REAL(rename)(from, to); }
int mkdir(const char *path, mode_t mode) { FAIL("mkdir", -1, path); return REAL(mkdir)(path, mode); }
DIR *opendir(const char *path) {
    int e = fault("list", -1, path);
    if (e) { errno = e; return NULL; }
    return REAL(opendir)(path);
}
int unlink(const char *path) { FAIL("unlink", -1, path); return REAL(unlink)(path); }
