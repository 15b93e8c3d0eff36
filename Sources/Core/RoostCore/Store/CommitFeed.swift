internal import RoostSystem

/// A feed that notifies listeners of the commits to one store, in the order of the commits.
///
/// Overlapping commits to a server are reported in the order in which they began.
///
/// In a process, all instances of a store with a ``CommitSignal`` share one feed. A *look* finds
/// commits of other processes: the caller reads the store's generation and passes it to
/// ``look(_:)``.
package final class CommitFeed: Sendable {
    /// A function that receives the notices, on the thread of the commit or look.
    ///
    /// The feed holds its lock during the call, so a listener must not use the feed.
    package typealias Listener = @Sendable (SaveNotice) -> Void

    /// A finished commit that was not reported yet.
    private struct Ended {
        let generation: Generation
        let previous: Generation
        let store: StoreLocation
        let origin: ObjectIdentifier?
        /// The notice; nil if no listener receives it.
        let notice: SaveNotice?
    }

    private struct State {
        var listeners: [(number: Int, ignored: ObjectIdentifier?, body: Listener)] = []
        var lastNumber = 0
        /// The last reported generation.
        var known: Generation?
        /// The number of this process's commits under way.
        var openCount = 0
        var endCount = 0
        /// The finished commits whose predecessors were not reported yet, by previous generation.
        var early: [Generation: Ended] = [:]
        /// Whether a look can read from the store's history what other processes changed.
        ///
        /// If so, the commits in ``early`` wait for a look.
        var hasHistory = false
        /// Whether generations are sums; see ``Generation/highestSum``.
        var addsGenerations = false
        var lastLook = ContinuousClock.now
        /// The number of the most recently begun commit.
        var lastBegin = 0
        /// The numbers of the commits under way; empty unless generations are sums.
        var openNumbers: Set<Int> = []
        /// Finished commits that wait for the end of earlier commits, by number.
        var overlapping: [Int: Ended] = [:]
        /// The highest number of a reported commit.
        var lastReported = 0
    }

    /// The maximum number of finished commits that wait to be reported.
    private static let mostEarly = 64

    /// The maximum time for which overlapping commits delay a look.
    private static let longestDelay = Duration.seconds(10)

    private struct Weak {
        weak var feed: CommitFeed?
    }

    private static let shared = Mutex<[CommitSignalID: Weak]>([:])

    private let state = Mutex(State())

    private init() {}

    /// Returns the feed that all stores with this signal share; a new feed for nil.
    package static func of(_ signal: (any CommitSignal)?) -> CommitFeed {
        guard let id = signal?.id else { return CommitFeed() }
        return shared.withLock { feeds in
            if let feed = feeds[id]?.feed { return feed }
            feeds = feeds.filter { $0.value.feed != nil }
            let feed = CommitFeed()
            feeds[id] = Weak(feed: feed)
            return feed
        }
    }

    package var addsGenerations: Bool { state.withLock { $0.addsGenerations } }

    package func setAddsGenerations(_ addsGenerations: Bool) { state.withLock { $0.addsGenerations = addsGenerations } }

    // MARK: Listening

    /// Calls `body` after each commit whose origin is not `ignored`, from now until ``remove(_:)``.
    ///
    /// A commit that ends during this call may be reported too. Make a look after this call: the
    /// feed compares later looks with this look.
    package func add(ignoring ignored: ObjectIdentifier? = nil, listener body: @escaping Listener) -> Int {
        state.withLock { state in
            if state.listeners.isEmpty {
                (state.known, state.early, state.overlapping) = (nil, [:], [:])
                state.lastLook = .now
            }
            state.lastNumber += 1
            state.listeners.append((state.lastNumber, ignored, body))
            return state.lastNumber
        }
    }

    package func remove(_ number: Int) {
        let removed = state.withLock { state in
            state.listeners.firstIndex { $0.number == number }.map { state.listeners.remove(at: $0) }
        }
        // Objects that the listener owns are released outside of the lock.
        withExtendedLifetime(removed) {}
    }

    // MARK: Commits of this process

    /// Notes the beginning of a commit, and returns its number.
    ///
    /// Until the end of the commit, a look cannot attribute a new generation to another process.
    package func beginCommit() -> Int {
        state.withLock { state in
            state.openCount += 1
            state.lastBegin += 1
            if state.addsGenerations { state.openNumbers.insert(state.lastBegin) }
            return state.lastBegin
        }
    }

    /// Notes the end of a commit that failed or changed nothing.
    package func endCommit(_ number: Int) {
        state.withLock { state in
            Self.noteEnd(of: number, state: &state)
            Self.tellOverlapping(&state)
            Self.tellGap(&state)
        }
    }

    private static func noteEnd(of number: Int, state: inout State) {
        state.openCount -= 1
        state.endCount += 1
        state.openNumbers.remove(number)
    }

    /// Reports a commit that changed the store, after all preceding commits.
    ///
    /// The two generations must differ. `notice` is evaluated only if a listener receives it.
    package func endCommit(
        _ number: Int, generations: (before: Generation, after: Generation), of store: StoreLocation,
        origin: ObjectIdentifier?,
        notice: @autoclosure () -> SaveNotice
    ) {
        let (previous, generation) = generations
        state.withLock { state in
            Self.noteEnd(of: number, state: &state)
            guard !state.listeners.isEmpty else { return }
            if state.addsGenerations {
                let isWanted = state.listeners.contains { $0.ignored == nil || $0.ignored != origin }
                state.overlapping[number] = Ended(
                    generation: generation, previous: previous, store: store, origin: origin,
                    notice: isWanted ? notice() : nil)
                return Self.tellOverlapping(&state)
            }
            if generation != state.known {
                let isWanted = state.listeners.contains { $0.ignored == nil || $0.ignored != origin }
                state.early[previous] = Ended(
                    generation: generation, previous: previous, store: store, origin: origin,
                    notice: isWanted ? notice() : nil)
                if state.known == nil { state.known = previous }
                Self.tellEarly(&state)
            }
            Self.tellGap(&state)
        }
    }

    /// Reports the early commits that follow the last reported generation.
    private static func tellEarly(_ state: inout State) {
        while let known = state.known, let next = state.early.removeValue(forKey: known) {
            state.known = next.generation
            guard let notice = next.notice else { continue }
            for listener in state.listeners where listener.ignored == nil || listener.ignored != next.origin {
                listener.body(notice)
            }
        }
    }

    /// Reports commits that can overlap, in the order in which they began.
    ///
    /// A commit can build only on commits that began earlier. Each notice starts at the generation
    /// at which the previous notice ends.
    private static func tellOverlapping(_ state: inout State) {
        guard !state.overlapping.isEmpty else { return }
        let isFull = state.overlapping.count > mostEarly
        let firstOpen = isFull ? Int.max : state.openNumbers.min() ?? Int.max
        for number in state.overlapping.keys.sorted() where number < firstOpen {
            guard let ended = state.overlapping.removeValue(forKey: number) else { continue }
            let known = state.known ?? ended.previous
            let next = known.adding(from: ended.previous, to: ended.generation)
            state.known = next
            // Commits that may depend on this commit were already reported. So a late notice lists no IDs.
            let isLate = number < state.lastReported
            state.lastReported = max(state.lastReported, number)
            guard var notice = ended.notice else { continue }
            if isLate { notice = SaveNotice(store: ended.store, generations: (known, next), lists: nil) }
            (notice.previousGeneration, notice.generation) = (known, next)
            for listener in state.listeners where listener.ignored == nil || listener.ignored != ended.origin {
                listener.body(notice)
            }
        }
    }

    /// Reports finished commits whose predecessor is a commit of another process.
    ///
    /// Does nothing while the predecessor may be an unfinished commit of this process, or if a look
    /// can read the changes from the history. If too many commits are waiting, reports them anyway.
    private static func tellGap(_ state: inout State) {
        guard !state.early.isEmpty, let known = state.known, state.openCount == 0 || state.early.count > mostEarly,
            !state.hasHistory || state.early.count > mostEarly
        else { return }
        let ends = Set(state.early.values.map(\.generation))
        // Generations may have no order, so chains of successive commits are reported in any order.
        for start in state.early.keys where !ends.contains(start) {
            guard let first = state.early[start] else { continue }
            let gap = SaveNotice(store: first.store, generations: (state.known ?? known, start), lists: nil)
            for listener in state.listeners { listener.body(gap) }
            state.known = start
            tellEarly(&state)
        }
        state.early = [:]
    }

    // MARK: Commits of other processes

    /// The state of the feed before a look.
    package struct Ticket: Sendable {
        package let known: Generation?
        fileprivate let endCount: Int
    }

    /// Returns a ticket for a look, or nil if a look is not useful now.
    ///
    /// Create the ticket before you read the generation.
    package func ticket() -> Ticket? {
        state.withLock { state in
            let canLook = state.openCount == 0 || Self.isLookDue(state)
            return state.listeners.isEmpty || !canLook ? nil : Ticket(known: state.known, endCount: state.endCount)
        }
    }

    /// Whether a look must no longer wait for commits of this process.
    ///
    /// Commits under way can then be reported twice: by the look, and by notices of their own.
    private static func isLookDue(_ state: State) -> Bool {
        state.addsGenerations && state.lastLook.duration(to: .now) > longestDelay
    }

    /// A look at the generation of a store.
    package struct Look: Sendable {
        package let ticket: Ticket
        package let generation: Generation
        package let store: StoreLocation
        /// The changes since the ticket's generation; nil if they are unknown.
        package var changes: SaveNotice?
        package var hasHistory = false

        package init(at generation: Generation, of store: StoreLocation, ticket: Ticket) {
            (self.generation, self.store, self.ticket) = (generation, store, ticket)
        }
    }

    /// Reports commits of other processes if the generation differs from the last reported one.
    ///
    /// Ignores the look if the feed has no listeners. Unless a look is due, also ignores it during
    /// a commit of this process, or if the feed has changed since the ticket.
    ///
    /// - Returns: False if the look was ignored.
    @discardableResult
    package func look(_ look: Look) -> Bool {
        let (ticket, generation) = (look.ticket, look.generation)
        return state.withLock { state in
            let isQuiet = state.openCount == 0 && state.endCount == ticket.endCount && state.known == ticket.known
            guard !state.listeners.isEmpty, isQuiet || Self.isLookDue(state) else { return false }
            state.lastLook = .now
            state.hasHistory = look.hasHistory
            let former = state.known
            state.known = generation
            // The look's generation includes the waiting commits of this process.
            state.early = [:]
            guard let known = former, known != generation else { return true }
            let notice =
                look.changes
                ?? SaveNotice(store: look.store, generations: (known, generation), lists: nil)
            for listener in state.listeners { listener.body(notice) }
            return true
        }
    }
}

/// The identity of a signal, equal for all instances of a store.
package struct CommitSignalID: Hashable, Sendable {
    private let device: UInt64
    private let inode: UInt64

    /// Creates an identity, usually from the signal's file.
    package init(device: UInt64, inode: UInt64) { (self.device, self.inode) = (device, inode) }
}

/// A signal that notifies other processes of commits, usually by touching a file.
package protocol CommitSignal: AnyObject, Sendable {
    /// The path of the file to watch; empty for a signal without a file.
    var path: String { get }
    var id: CommitSignalID { get }

    /// Notifies other processes.
    ///
    /// If this fails, watchers find the commit at their next look.
    func raise()

    /// Starts to call `body` after commits, if the signal has no file.
    ///
    /// - Returns: The observation, which ends on deallocation; nil for a signal that has a file or
    ///   cannot notify.
    func observe(_ body: @escaping @Sendable () -> Void) -> (any AnyObject & Sendable)?
}

extension CommitSignal {
    package func observe(_ body: @escaping @Sendable () -> Void) -> (any AnyObject & Sendable)? { nil }
}

package protocol CommitSignaling {
    var commitSignal: (any CommitSignal)? { get }
}

package protocol CommitReportingStore: PersistentStore {
    var commitFeed: CommitFeed { get }
    var commitSignal: (any CommitSignal)? { get }
}

extension PersistentStore {
    /// Returns the store's generation; nil if it records none.
    package func currentGeneration() throws(StoreError) -> Generation? {
        let snapshot = try snapshot()
        defer { snapshot.close() }
        return try snapshot.recordedTally()?.generation
    }
}

extension CommitReportingStore {
    /// Runs a commit, reports it to listeners in this process, then signals other processes.
    package func reporting(_ commit: () throws(StoreError) -> CommitReceipt) throws(StoreError) -> CommitReceipt {
        let number = commitFeed.beginCommit()
        let receipt: CommitReceipt
        do throws(StoreError) { receipt = try commit() } catch {
            commitFeed.endCommit(number)
            throw error
        }
        if receipt.hasChanges {
            commitFeed.endCommit(
                number, generations: (receipt.previousGeneration, receipt.generation), of: location,
                origin: receipt.changes.origin, notice: receipt.notice(for: location))
            commitSignal?.raise()
        } else {
            commitFeed.endCommit(number)
        }
        return receipt
    }

    /// Runs a change that may affect any object, and reports it.
    package func reportingAll<Result>(
        _ change: () throws(StoreError) -> (previous: Generation, now: Generation, result: Result)
    ) throws(StoreError) -> Result {
        let number = commitFeed.beginCommit()
        let (previous, now, result): (Generation, Generation, Result)
        do throws(StoreError) { (previous, now, result) = try change() } catch {
            commitFeed.endCommit(number)
            throw error
        }
        if previous == now {
            commitFeed.endCommit(number)
        } else {
            commitFeed.endCommit(
                number, generations: (previous, now), of: location, origin: nil,
                notice: SaveNotice(store: location, generations: (previous, now), lists: nil))
            commitSignal?.raise()
        }
        return result
    }
}

extension CommitReceipt {
    fileprivate func notice(for store: StoreLocation) -> SaveNotice {
        let (inserted, updated, deleted) = (insertedIDs, updatedIDs, deletedIDs)
        var known = Set(inserted).union(updated).union(deleted)
        let relinked = relinkedIDs.filter { known.insert($0).inserted }
        return SaveNotice(
            store: store, generations: (previousGeneration, generation), author: (changes.author, changes.contextName),
            lists: SaveNotice.Lists(inserted: inserted, updated: updated + relinked, deleted: deleted))
    }
}
