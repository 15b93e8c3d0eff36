// The C library of the system, and what Swift does not show of it, imported here once: a file that
// imports RoostSystem has their calls.
@_exported public import CRoostSystem

#if canImport(Glibc)
    @_exported public import Glibc
#elseif canImport(Musl)
    @_exported public import Musl
#elseif canImport(Darwin)
    @_exported public import Darwin
#endif
