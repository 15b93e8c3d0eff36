public import RoostCore
internal import RoostSystem

/// The commits to stores, as they come: an asynchronous sequence of notices.
///
/// It begins when the program asks for it, not when the loop begins. So no commit is missed between
/// a later read and the first notice.
///
/// ```swift
/// let changes = try store.changes
/// show(try store.fetch("Track", sortedBy: ["title"]))
/// for await _ in changes { show(try store.fetch("Track", sortedBy: ["title"])) }
/// ```
///
/// A slow reader gets one notice for all commits to a store since the last notice. Beyond
/// ``SaveNotice/mostIDs`` IDs that notice is not complete, so a sequence takes no more memory than
/// that. Iterators of one sequence share its notices: each goes to one of them.
///
/// The sequence ends when the store is closed or replaced, and when the task is cancelled.
public struct SaveNotices: AsyncSequence, Sendable {
    /// A notice of one commit or of several.
    public typealias Element = SaveNotice
    /// A sequence does not fail.
    public typealias Failure = Never

    package let source: NoticeSource

    package init(_ source: NoticeSource) { self.source = source }

    /// Makes an iterator.
    public func makeAsyncIterator() -> Iterator { Iterator(source: source) }

    /// An iterator that removes notices from a sequence.
    public struct Iterator: AsyncIteratorProtocol {
        let source: NoticeSource

        /// Waits for the next notice; returns nil at the end.
        public mutating func next() async -> SaveNotice? { await source.queue.next() }

        /// Waits for the next notice; returns nil at the end.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> SaveNotice? {
            await source.queue.next()
        }
    }
}

/// A queue and the subscriptions that fill it, kept by a sequence and its iterators.
///
/// A subscription keeps the queue alone. Its listener is called under a lock that it also takes
/// when it ends, so the listener must never be the last to release it.
package final class NoticeSource: Sendable {
    package let queue = NoticeQueue()
    private let subscriptions: [CommitSubscription]

    /// Creates a queue that is filled by other means.
    package init() { subscriptions = [] }

    /// Begins to listen to stores.
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

/// The notices that a sequence has not given yet.
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

    /// Ends the sequence, after the notices that are waiting.
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
                    // A cancellation after this finds the continuation.
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
    /// The commits to the store from now on, of this process and of others.
    ///
    /// Commits of this process are named object by object, in their order; so are batch requests,
    /// and commits of other processes if the store records a history. A bulk load is not. Commits
    /// of other processes show within a fifth of a second where the system can watch files, and
    /// after a second at most.
    ///
    /// - Throws: `closed`, and what reading the store throws.
    public var changes: SaveNotices {
        get throws(StoreError) { try SaveNotices(of: [self]) }
    }
}

extension SaveNotices {
    /// Begins to listen to stores.
    package init(of stores: [Store]) throws(StoreError) { self.init(try NoticeSource(stores)) }
}
