package import RoostCore

/// An object that can stop a conversion, migration, dump or comparison.
///
/// The operation stops at its next check, and throws `cancelled`. A conversion also removes the
/// store that it created.
///
/// After the destination is published, a cancellation has no effect.
///
/// ```swift
/// let cancellation = ConversionCancellation()
/// DispatchQueue.global().asyncAfter(deadline: .now() + 60) { cancellation.cancel() }
/// try store.convert(
///     to: .lmdb("music.lmdb"), options: ConversionOptions(cancellation: cancellation))
/// ```
public final class ConversionCancellation: Sendable {
    private let flag = Mutex(false)

    /// Creates a cancellation that is not yet requested.
    public init() {}

    /// Requests the stop.
    ///
    /// Can be called from any thread. Further calls have no effect.
    public func cancel() { flag.withLock { $0 = true } }

    /// Whether ``cancel()`` was called.
    public var isCancelled: Bool { flag.withLock { $0 } }

    /// Throws `cancelled` after ``cancel()``.
    package func check() throws(StoreError) {
        guard isCancelled else { return }
        throw StoreError(.cancelled, "The operation was cancelled; the source is unchanged.")
    }
}
