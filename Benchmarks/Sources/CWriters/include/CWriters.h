/// Durable commits of several threads to a PostgreSQL server, written in C.
#ifndef CWRITERS_H
#define CWRITERS_H

#include <stdint.h>

/// The commits of several threads. Each thread has its own connection.
typedef struct writers_run {
    /// The parameters of the connections.
    const char *parameters;
    int thread_count;
    /// The number of commits of each thread, which must be even. A thread alternately increments
    /// one of its counters and inserts an object.
    int64_t commit_count;
    /// The error message if a function did not return 0.
    char error[400];
} writers_run;

/// Creates the tables, with 1 000 counters. Returns 0, or -1 with a message.
int writers_prepare(writers_run *run);

/// Runs all commits, which is the measured part. Returns 0, or -1 with a message.
int writers_commit(writers_run *run);

/// Compares the counters, objects and tallies with the commits, and removes the tables.
int writers_finish(writers_run *run);

#endif
