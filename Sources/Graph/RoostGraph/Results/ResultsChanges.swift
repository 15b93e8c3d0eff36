internal import RoostSystem

/// The differences of a result, in order, for a task in any isolation.
///
/// ```swift
/// var rows: [[ObjectID]] = controller.sections.map { Array($0) }
/// let changes = controller.changes
/// Task {
///     for await change in changes { rows = change.applying(to: rows) }
/// }
/// ```
///
/// The sequence guarantees:
///
/// - Differences since the creation of the sequence are delivered in order. The sequence ends when
///   its controller is deallocated.
/// - At most 64 differences, with at most 10 000 objects in total, wait for a slow reader. Beyond
///   these limits, one element with the whole new result replaces all waiting differences; see
///   ``ResultsChange/reload``. Applying all elements with ``ResultsChange/applying(to:)`` still
///   gives the current result.
///
/// Only one task may read a sequence. Each read of ``FetchedResultsController/changes`` creates a
/// new sequence.
public struct ResultsChanges: AsyncSequence, Sendable {
    private let channel: ResultsChannel

    init(_ channel: ResultsChannel) { self.channel = channel }

    /// Returns an iterator over the differences.
    public func makeAsyncIterator() -> Iterator { Iterator(channel) }

    /// An iterator that waits for each difference.
    public struct Iterator: AsyncIteratorProtocol {
        private let channel: ResultsChannel
        private var signals: AsyncStream<Void>.Iterator

        init(_ channel: ResultsChannel) {
            self.channel = channel
            signals = channel.signals.makeAsyncIterator()
        }

        /// Returns the next difference, or nil if the controller was deallocated or the task was
        /// canceled.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> ResultsChange? {
            while true {
                if let change = channel.take() { return change }
                guard await signals.next(isolation: actor) != nil else { return channel.take() }
            }
        }
    }
}

/// The differences that wait for one sequence's reader.
final class ResultsChannel: Sendable {
    static let mostChanges = 64
    /// The maximum number of objects in all waiting differences.
    static let mostEntries = 10_000

    private struct State {
        var waiting: [ResultsChange] = []
        var entryCount = 0
    }

    private let state = Mutex(State())
    /// A stream that wakes the reader; one signal suffices for all waiting differences.
    let signals: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation

    init() { (signals, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1)) }

    /// Adds a difference, or replaces all differences with the result of `whole`.
    ///
    /// The differences are replaced if too many are waiting, or if one contains a whole result.
    func put(_ change: ResultsChange, _ whole: () -> [ResultsSection]) {
        let isFull = state.withLock { state in
            if state.waiting.first?.reload == nil, change.reload == nil, state.waiting.count < Self.mostChanges,
                state.entryCount + change.entryCount <= Self.mostEntries
            {
                state.waiting.append(change)
                state.entryCount += change.entryCount
                return false
            }
            return true
        }
        if isFull, !isPlanted(.dropsSlowReaders) {
            var reload = ResultsChange()
            reload.reload = whole()
            let element = reload
            state.withLock { $0 = State(waiting: [element]) }
        }
        signal.yield()
    }

    func take() -> ResultsChange? {
        state.withLock { state in
            guard !state.waiting.isEmpty else { return nil }
            let first = state.waiting.removeFirst()
            state.entryCount -= first.entryCount
            return first
        }
    }

    func finish() {
        if isPlanted(.losesWaitingDifferences) { state.withLock { $0 = State() } }
        signal.finish()
    }
}
