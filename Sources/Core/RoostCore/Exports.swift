// The lock of backends: Synchronization.Mutex makes ThreadSanitizer report false races on Linux.
@_exported public import class RoostSystem.Mutex
