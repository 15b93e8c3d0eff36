#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include "CRoostSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/inotify.h>

int croost_open_watch(void) {
    int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    return watch < 0 ? -errno : watch;
}

int croost_watch_file(int watch, const char *path) {
    int number = inotify_add_watch(watch, path, IN_ATTRIB);
    return number < 0 ? -errno : number;
}

void croost_unwatch_file(int watch, int number) {
    // The call fails for a removed file, because its watch has ended.
    (void)inotify_rm_watch(watch, number);
}

int croost_wait_for_files(int watch, int milliseconds, int *numbers, int capacity) {
    struct pollfd ready = {.fd = watch, .events = POLLIN};
    int code = poll(&ready, 1, milliseconds);
    if (code < 0) return errno == EINTR ? 0 : -errno;
    if (code == 0) return 0;
    int count = 0;
    _Alignas(struct inotify_event) char buffer[4096];
    while (1) {
        ssize_t size = read(watch, buffer, sizeof buffer);
        if (size < 0) return errno == EAGAIN || errno == EINTR ? count : -errno;
        if (size == 0) return count;
        for (ssize_t at = 0; at < size;) {
            const struct inotify_event *event = (const struct inotify_event *)(buffer + at);
            at += (ssize_t)sizeof *event + event->len;
            // Events were lost, so any file may have changed.
            if (event->mask & IN_Q_OVERFLOW) return capacity + 1;
            int isKnown = 0;
            for (int index = 0; index < count && index < capacity; index++) isKnown |= numbers[index] == event->wd;
            if (isKnown || count > capacity) continue;
            if (count < capacity) numbers[count] = event->wd;
            count++;
        }
    }
}

#elif defined(__APPLE__) || defined(__FreeBSD__)
#include <sys/event.h>
#include <sys/time.h>

#if !defined(O_EVTONLY)
#define O_EVTONLY O_RDONLY
#endif

int croost_open_watch(void) {
    int watch = kqueue();
    if (watch < 0) return -errno;
    (void)fcntl(watch, F_SETFD, FD_CLOEXEC);
    return watch;
}

int croost_watch_file(int watch, const char *path) {
    int file = open(path, O_EVTONLY | O_CLOEXEC);
    if (file < 0) return -errno;
    struct kevent change;
    EV_SET(&change, file, EVFILT_VNODE, EV_ADD | EV_CLEAR, NOTE_ATTRIB, 0, NULL);
    if (kevent(watch, &change, 1, NULL, 0, NULL) < 0) {
        int code = errno;
        close(file);
        return -code;
    }
    return file;
}

void croost_unwatch_file(int watch, int number) {
    (void)watch;
    // Closing the file ends its watch.
    close(number);
}

int croost_wait_for_files(int watch, int milliseconds, int *numbers, int capacity) {
    struct timespec time = {.tv_sec = milliseconds / 1000, .tv_nsec = (long)(milliseconds % 1000) * 1000000};
    struct kevent events[64];
    int count = kevent(watch, NULL, 0, events, capacity < 64 ? capacity : 64, &time);
    if (count < 0) return errno == EINTR ? 0 : -errno;
    for (int index = 0; index < count; index++) numbers[index] = (int)events[index].ident;
    return count;
}

#else

int croost_open_watch(void) { return -ENOSYS; }
int croost_watch_file(int watch, const char *path) {
    (void)watch;
    (void)path;
    return -ENOSYS;
}
void croost_unwatch_file(int watch, int number) {
    (void)watch;
    (void)number;
}
int croost_wait_for_files(int watch, int milliseconds, int *numbers, int capacity) {
    (void)watch;
    (void)milliseconds;
    (void)numbers;
    (void)capacity;
    return -ENOSYS;
}
#endif
