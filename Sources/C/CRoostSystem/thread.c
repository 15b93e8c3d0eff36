#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include "CRoostSystem.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

void croost_spare_address_space(void) {
#if defined(__GLIBC__)
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) (void)mallopt(M_ARENA_MAX, 1);
#endif
}

struct start {
    void (*run)(void *);
    void *argument;
};

static void *begin(void *given) {
    struct start start = *(struct start *)given;
    free(given);
    start.run(start.argument);
    return NULL;
}

int croost_start_thread(size_t stack_size, void (*run)(void *argument), void *argument) {
    struct start *start = malloc(sizeof *start);
    if (start == NULL) return ENOMEM;
    *start = (struct start){run, argument};
    pthread_attr_t attributes;
    int code = pthread_attr_init(&attributes);
    if (code == 0) {
        code = pthread_attr_setstacksize(&attributes, stack_size);
        if (code == 0) code = pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
        pthread_t thread;
        if (code == 0) code = pthread_create(&thread, &attributes, begin, start);
        pthread_attr_destroy(&attributes);
    }
    if (code != 0) free(start);
    return code;
}

void croost_name_thread(const char *name) {
#if defined(__APPLE__)
    (void)pthread_setname_np(name);
#elif defined(__linux__)
    // Linux refuses a name of more than 15 bytes.
    char shortened[16];
    strncpy(shortened, name, sizeof shortened - 1);
    shortened[sizeof shortened - 1] = 0;
    (void)pthread_setname_np(pthread_self(), shortened);
#else
    (void)name;
#endif
}
