// Exports the lock that backends use.
@_exported public import class RoostSystem.Mutex
