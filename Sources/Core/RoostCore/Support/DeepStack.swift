/// A separate thread with a large stack for deep recursion.
///
/// The calling thread waits. On some platforms, a secondary thread has a stack of half a megabyte,
/// which may be too small for 200 levels of recursion. Callers run shallow recursion on their own
/// stack, because starting a thread takes time.
package enum DeepStack {
    /// The maximum depth at which predicates use the caller's own stack.
    package static let shallowDepth = 12

    /// The size of the stack; 200 levels need less than 8 MiB in a build without optimization.
    private static let byteCount = 32 << 20

    /// Runs `body` on a new thread; throws `outOfResources` if the system cannot start one.
    package static func run<Result: Sendable>(
        _ body: @escaping @Sendable () throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        try WorkerThread("roost-deep", stackByteCount: byteCount, body).join().get()
    }
}
