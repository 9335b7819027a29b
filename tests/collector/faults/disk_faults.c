/* Preloaded into a collector: makes its disk fail while a file of that name is in the folder HUBBUB_FAULTS.
 *
 * "fsync": every fsync and fdatasync of a file below HUBBUB_FAULTS_DATA fails with EIO.
 * "full": every write to such a file fails with ENOSPC.
 * Each fsync is noted in "log", with its outcome and the file's name, so that a test can see what was synced when.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static int below(int fd, char *name, size_t size) {
    const char *data = getenv("HUBBUB_FAULTS_DATA");
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, name, size - 1);
    if (!data || length < 0) return 0;
    name[length] = 0;
    return strncmp(name, data, strlen(data)) == 0;
}

static int faulty(const char *kind) {
    const char *folder = getenv("HUBBUB_FAULTS");
    char path[4096];
    if (!folder) return 0;
    snprintf(path, sizeof path, "%s/%s", folder, kind);
    return access(path, F_OK) == 0;
}

static void note(const char *outcome, const char *name) {
    char line[4200], path[4096];
    snprintf(path, sizeof path, "%s/log", getenv("HUBBUB_FAULTS") ? getenv("HUBBUB_FAULTS") : "");
    const char *last = strrchr(name, '/');
    int length = snprintf(line, sizeof line, "%s %s\n", outcome, last ? last + 1 : name);
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT, 0600);
    if (fd < 0) return;
    ssize_t (*real)(int, const void *, size_t) = dlsym(RTLD_NEXT, "write");
    if (real(fd, line, length) != length) { /* a test misses it */ }
    close(fd);
}

static int synced(int fd, const char *call) {
    char name[4096];
    int (*real)(int) = dlsym(RTLD_NEXT, call);
    if (!below(fd, name, sizeof name)) return real(fd);
    if (faulty("fsync")) {
        note("failed", name);
        errno = EIO;
        return -1;
    }
    note("synced", name);
    return real(fd);
}

int fsync(int fd) { return synced(fd, "fsync"); }
int fdatasync(int fd) { return synced(fd, "fdatasync"); }

#define WRITES(CALL, PARAMETERS, ARGUMENTS)                             \
    ssize_t CALL PARAMETERS {                                           \
        char name[4096];                                                \
        ssize_t(*real) PARAMETERS = dlsym(RTLD_NEXT, #CALL);            \
        if (faulty("full") && below(fd, name, sizeof name)) {           \
            errno = ENOSPC;                                             \
            return -1;                                                  \
        }                                                               \
        return real ARGUMENTS;                                          \
    }
WRITES(write, (int fd, const void *from, size_t size), (fd, from, size))
WRITES(pwrite, (int fd, const void *from, size_t size, off_t at), (fd, from, size, at))
WRITES(pwrite64, (int fd, const void *from, size_t size, off64_t at), (fd, from, size, at))
