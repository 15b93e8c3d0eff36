// The lock for backends.
@_exported public import class RoostSystem.Mutex
