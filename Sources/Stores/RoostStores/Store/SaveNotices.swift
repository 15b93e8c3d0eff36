public import RoostCore
internal import RoostSystem

/// An asynchronous sequence of notices about commits to stores.
///
/// The sequence reports all commits after its creation. If you create it before you read the store,
/// you miss no commit.
///
/// ```swift
/// let changes = try store.changes
/// show(try store.fetch("Track", sortedBy: ["title"]))
/// for await _ in changes { show(try store.fetch("Track", sortedBy: ["title"])) }
/// ```
///
/// A slow reader gets one notice for all commits to a store since the last notice. A large merged
/// notice is incomplete; see ``SaveNotice/mostIDs``. Each notice is returned by only one iterator.
///
/// The sequence ends when one of its stores is closed or replaced, or when the task is cancelled.
/// The sequence of a context also ends when the context is deallocated.
public struct SaveNotices: AsyncSequence, Sendable {
    /// A notice of one or several commits.
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

        /// Returns the next notice, or nil at the end.
        public mutating func next() async -> SaveNotice? { await source.queue.next() }

        /// Returns the next notice, or nil at the end.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> SaveNotice? {
            await source.queue.next()
        }
    }
}

/// A queue and the subscriptions that fill it.
///
/// A listener retains only the queue. It is called under a lock that the end of a subscription
/// needs, so a listener must never release the last reference to its subscription.
package final class NoticeSource: Sendable {
    package let queue = NoticeQueue()
    private let subscriptions: [CommitSubscription]

    package init() { subscriptions = [] }

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
                    // A later cancellation waits for the lock, and then finds the continuation.
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
    /// Notices come in the order of the commits, and list each changed object. They may be
    /// incomplete for bulk loads, and for commits of other processes to a store without a history.
    /// Commits of other processes are reported within a second, and within a fifth of a second if
    /// the system can watch files.
    ///
    /// - Throws: `closed`; errors of reading the store.
    public var changes: SaveNotices {
        get throws(StoreError) { try SaveNotices(of: [self]) }
    }
}

extension SaveNotices {
    package init(of stores: [Store]) throws(StoreError) { self.init(try NoticeSource(stores)) }
}
