/// Runs what may nest deep: on a thread of its own whose stack is large enough, whatever the
/// caller's is.
///
/// Secondary threads have half a megabyte on some platforms, which two hundred levels of recursion
/// can need more than. The caller waits; it costs the start of a thread, so shallow work is done
/// without it.
package enum DeepStack {
    /// The maximum depth of recursion over predicates on the caller's own stack.
    package static let shallowDepth = 12

    /// Two hundred levels take less than 8 MiB in a build without optimization; untouched memory
    /// costs nothing.
    private static let byteCount = 32 << 20

    /// Runs `body` and gives what it returns.
    ///
    /// - Throws: What `body` throws; `outOfResources` when the system starts no more threads.
    package static func run<Result: Sendable>(
        _ body: @escaping @Sendable () throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        try WorkerThread("roost-deep", stackByteCount: byteCount, body).join().get()
    }
}
