/// Runs deep recursion on a separate thread with a large stack.
///
/// Secondary threads have a stack of half a megabyte on some platforms, and 200 levels of recursion
/// can need more. The caller waits. Starting a thread takes time, so shallow recursion does not use
/// it.
package enum DeepStack {
    /// The maximum depth of recursion over predicates on the caller's own stack.
    package static let shallowDepth = 12

    /// 200 levels use less than 8 MiB in a build without optimization.
    ///
    /// Unused memory costs nothing.
    private static let byteCount = 32 << 20

    /// Runs `body` and returns its result.
    ///
    /// - Throws: The error of `body`; `outOfResources` if the system cannot start a thread.
    package static func run<Result: Sendable>(
        _ body: @escaping @Sendable () throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        try WorkerThread("roost-deep", stackByteCount: byteCount, body).join().get()
    }
}
