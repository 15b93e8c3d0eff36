internal import RoostCore
internal import RoostSystem

/// The free address space of this process, which may be limited (`ulimit -v`, `RLIMIT_AS`).
enum AddressSpace {
    /// The number of bytes of address space that a map must leave free.
    ///
    /// Swift ends a program that cannot allocate memory.
    static let reservedByteCount = 96 << 20

    /// Throws `outOfResources` if the free address space cannot hold a map of `byteCount` bytes and
    /// the reserved bytes.
    static func requireRoom(_ byteCount: Int, forMapOf path: String) throws(StoreError) {
        guard byteCount > 0 else { return }
        let (wanted, overflow) = byteCount.addingReportingOverflow(reservedByteCount)
        // The mapping is never accessed, so it uses no memory.
        if !overflow, let place = mmap(nil, wanted, PROT_NONE, flags, -1, 0), place != MAP_FAILED {
            munmap(place, wanted)
            return
        }
        throw StoreError(
            .outOfResources,
            "'\(path)' cannot be mapped: the limited address space of this process lacks room for a map of \(byteCount >> 20) MiB and \(reservedByteCount >> 20) MiB of other memory. Raise the limit (ulimit -v)."
        )
    }

    #if canImport(Darwin)
        private static let flags = MAP_PRIVATE | MAP_ANON | MAP_NORESERVE
    #else
        private static let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
    #endif
}
