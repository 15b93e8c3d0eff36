#ifndef CROOSTSYSTEM_H
#define CROOSTSYSTEM_H

/// Renames like renameat(2), but fails with EEXIST when `to` exists. Returns 0, or the errno value.
int croost_rename_exclusive(int from_directory, const char *from, int to_directory, const char *to);

/// Exchanges two existing names atomically. Returns 0, or the errno value; ENOSYS or EINVAL where unsupported.
int croost_rename_exchange(int from_directory, const char *from, int to_directory, const char *to);

#endif
