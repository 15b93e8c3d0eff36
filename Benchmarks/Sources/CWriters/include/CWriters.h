/// What a C programmer would write: durable commits of several threads to a PostgreSQL server, side by side.
#ifndef CWRITERS_H
#define CWRITERS_H

#include <stdint.h>

/// Commits of several threads, each on a connection of its own.
typedef struct writers_run {
    /// The parameters of the connections.
    const char *parameters;
    int thread_count;
    /// The commits of each thread: increments of its own counters and insertions, in turn.
    int64_t commit_count;
    /// What went wrong, when a function did not return 0.
    char error[400];
} writers_run;

/// Makes the tables, with 1 000 counters; returns 0, or -1 with a message.
int writers_prepare(writers_run *run);

/// Commits; this is what is measured. Returns 0, or -1 with a message.
int writers_commit(writers_run *run);

/// Compares the counters, the objects and the tallies with what was committed so often; removes the tables.
int writers_finish(writers_run *run);

#endif
