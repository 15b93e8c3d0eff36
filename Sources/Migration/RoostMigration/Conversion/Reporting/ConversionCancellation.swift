package import RoostCore

/// Asks a conversion to stop.
///
/// It stops at the next batch, with code `cancelled`, and leaves no trace.
///
/// A conversion that is about to give the finished destination its name is past stopping, and
/// succeeds.
///
/// ```swift
/// let cancellation = ConversionCancellation()
/// DispatchQueue.global().asyncAfter(deadline: .now() + 60) { cancellation.cancel() }
/// try store.convert(
///     to: .lmdb("music.lmdb"), options: ConversionOptions(cancellation: cancellation))
/// ```
public final class ConversionCancellation: Sendable {
    private let flag = Mutex(false)

    /// Makes a request that was not made yet.
    public init() {}

    /// Asks to stop.
    ///
    /// From any thread; asking again does nothing.
    public func cancel() { flag.withLock { $0 = true } }

    /// Whether ``cancel()`` was called.
    public var isCancelled: Bool { flag.withLock { $0 } }

    /// Throws code `cancelled` after ``cancel()``.
    package func check() throws(StoreError) {
        guard isCancelled else { return }
        throw StoreError(.cancelled, "It was cancelled; the source and the destination are unchanged.")
    }
}
