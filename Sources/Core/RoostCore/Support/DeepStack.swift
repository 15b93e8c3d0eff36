/// A separate thread with a large stack for deep recursion.
///
/// The calling thread waits. On some platforms, the stack of a secondary thread has half a
/// megabyte, which may be too small for 200 levels of recursion. Shallow recursion runs on the
/// caller's own stack, because starting a thread takes time.
package enum DeepStack {
    /// The maximum depth to which predicates are processed on the caller's own stack.
    package static let shallowDepth = 12

    /// The size of the stack; 200 levels need less than 8 MiB in a build without optimization.
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
