public import RoostCore
internal import RoostSystem

/// An asynchronous sequence of notices about commits to stores.
///
/// The sequence reports all commits after its creation, even those before the loop begins. So if
/// you create it before you read the store, you miss no commit.
///
/// ```swift
/// let changes = try store.changes
/// show(try store.fetch("Track", sortedBy: ["title"]))
/// for await _ in changes { show(try store.fetch("Track", sortedBy: ["title"])) }
/// ```
///
/// A slow reader gets one notice for all commits to a store since the last notice. To bound memory,
/// a merged notice with more than ``SaveNotice/mostIDs`` IDs lists no IDs and is incomplete. Each
/// notice is returned by only one of the sequence's iterators.
///
/// The sequence ends when one of its stores is closed or replaced, or when the task is cancelled.
/// The sequence of a context also ends when the context is deallocated.
public struct SaveNotices: AsyncSequence, Sendable {
    /// A notice of one commit or of several commits.
    public typealias Element = SaveNotice
    /// The sequence never throws.
    public typealias Failure = Never

    package let source: NoticeSource

    package init(_ source: NoticeSource) { self.source = source }

    /// Creates an iterator.
    public func makeAsyncIterator() -> Iterator { Iterator(source: source) }

    /// An iterator that removes notices from a sequence.
    public struct Iterator: AsyncIteratorProtocol {
        let source: NoticeSource

        /// Waits for the next notice.
        ///
        /// Returns nil at the end.
        public mutating func next() async -> SaveNotice? { await source.queue.next() }

        /// Waits for the next notice.
        ///
        /// Returns nil at the end.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> SaveNotice? {
            await source.queue.next()
        }
    }
}

/// A queue with the subscriptions that fill it, retained by a sequence and its iterators.
///
/// A subscription retains only the queue. Its listener is called under a lock that is also needed
/// to end the subscription, so the listener must never release the last reference to the
/// subscription.
package final class NoticeSource: Sendable {
    package let queue = NoticeQueue()
    private let subscriptions: [CommitSubscription]

    /// Creates a queue without subscriptions.
    package init() { subscriptions = [] }

    /// Subscribes to stores.
    init(_ stores: [Store]) throws(StoreError) {
        var subscriptions: [CommitSubscription] = []
        for store in stores {
            subscriptions.append(
                try CommitSubscription(
                    to: store, listener: { [queue] in queue.put($0) }, end: { [queue] in queue.end() }))
        }
        self.subscriptions = subscriptions
    }
}

/// The notices that a sequence has not returned yet.
package final class NoticeQueue: Sendable {
    private struct State {
        var notices = WaitingNotices()
        var isEnded = false
        var waiting: [Int: CheckedContinuation<SaveNotice?, Never>] = [:]
        var lastWait = 0
    }

    private let state = Mutex(State())

    init() {}

    /// Adds a notice.
    package func put(_ notice: SaveNotice) {
        guard !notice.isEmpty else { return }
        let (reader, given): (CheckedContinuation<SaveNotice?, Never>?, SaveNotice) = state.withLock { state in
            guard !state.isEnded else { return (nil, notice) }
            if let number = state.waiting.keys.min() { return (state.waiting.removeValue(forKey: number), notice) }
            state.notices.append(notice)
            return (nil, notice)
        }
        reader?.resume(returning: given)
    }

    /// Ends the sequence after the waiting notices.
    package func end() {
        let readers = state.withLock { state in
            defer { state.waiting = [:] }
            state.isEnded = true
            return state.waiting.values.map { $0 }
        }
        for reader in readers { reader.resume(returning: nil) }
    }

    func next() async -> SaveNotice? {
        let number = state.withLock { state in
            state.lastWait += 1
            return state.lastWait
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let given: SaveNotice?? = state.withLock { state in
                    // A cancellation after this check finds the continuation.
                    if Task.isCancelled { return .some(nil) }
                    if let first = state.notices.takeFirst() { return .some(first) }
                    if state.isEnded { return .some(nil) }
                    state.waiting[number] = continuation
                    return nil
                }
                if let given { continuation.resume(returning: given) }
            }
        } onCancel: {
            let reader = state.withLock { $0.waiting.removeValue(forKey: number) }
            reader?.resume(returning: nil)
        }
    }
}

extension Store {
    /// The commits to the store from now on, by this and other processes.
    ///
    /// Notices list each changed object, in the order of the commits. Notices of bulk loads, and of
    /// commits of other processes to a store without a history, may be incomplete. Commits of other
    /// processes are reported within a fifth of a second if the system can watch files, and
    /// otherwise within a second.
    ///
    /// - Throws: `closed`; errors of reading the store.
    public var changes: SaveNotices {
        get throws(StoreError) { try SaveNotices(of: [self]) }
    }
}

extension SaveNotices {
    /// Subscribes to stores.
    package init(of stores: [Store]) throws(StoreError) { self.init(try NoticeSource(stores)) }
}
