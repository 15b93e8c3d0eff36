/// Runs deep recursion on a thread of its own with a large stack.
///
/// Secondary threads have half a megabyte on some platforms, and two hundred levels of recursion
/// can need more. The caller waits. Starting a thread takes time, so shallow work does not use it.
package enum DeepStack {
    /// The maximum depth of recursion over predicates on the caller's own stack.
    package static let shallowDepth = 12

    /// Two hundred levels take less than 8 MiB in a build without optimization; untouched memory
    /// costs nothing.
    private static let byteCount = 32 << 20

    /// Runs `body` and returns its result.
    ///
    /// - Throws: What `body` throws; `outOfResources` when the system starts no more threads.
    package static func run<Result: Sendable>(
        _ body: @escaping @Sendable () throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        try WorkerThread("roost-deep", stackByteCount: byteCount, body).join().get()
    }
}
