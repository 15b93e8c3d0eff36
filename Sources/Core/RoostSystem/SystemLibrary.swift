// Exports the system's C library, and C wrappers of functions that Swift does not import, to all
// files that import RoostSystem.
@_exported public import CRoostSystem

#if canImport(Glibc)
    @_exported public import Glibc
#elseif canImport(Musl)
    @_exported public import Musl
#elseif canImport(Darwin)
    @_exported public import Darwin
#endif
