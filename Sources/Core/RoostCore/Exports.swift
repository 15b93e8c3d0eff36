// The lock for backends. ThreadSanitizer reports false races for Synchronization.Mutex on Linux.
@_exported public import class RoostSystem.Mutex
