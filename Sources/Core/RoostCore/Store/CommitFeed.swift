internal import RoostSystem

/// Reports to listeners what the commits to one store changed, in the order of the commits.
///
/// All openings of one store in a process share a feed. The engines report the commits of this
/// process. Commits of others are found by looking at the store's generation; see ``look(_:)``.
///
/// Without listeners, a commit costs two locks.
package final class CommitFeed: Sendable {
    /// Receives a notice, in the order of the commits, on the thread of a commit or of a look.
    ///
    /// It is called under the feed's lock, so it must not use the feed.
    package typealias Listener = @Sendable (SaveNotice) -> Void

    /// A commit that ended.
    private struct Ended {
        let generation: Generation
        let origin: ObjectIdentifier?
        /// Nil if no listener wants it.
        let notice: SaveNotice?
    }

    private struct State {
        var listeners: [(number: Int, ignored: ObjectIdentifier?, body: Listener)] = []
        var lastNumber = 0
        /// The generation that listeners know.
        var known: Generation?
        /// The number of commits of this process that are under way.
        var openCount = 0
        /// The number of commits that ended.
        var endCount = 0
        /// The commits whose predecessors were not reported yet, by their previous generations.
        var early: [Generation: Ended] = [:]
        /// Whether a look finds what commits of others changed, so that it is worth waiting for.
        var hasHistory = false
    }

    /// The number of commits after which a missing commit of this process is not waited for.
    private static let mostEarly = 64

    private struct Weak {
        weak var feed: CommitFeed?
    }

    private static let shared = Mutex<[CommitSignalID: Weak]>([:])

    private let state = Mutex(State())

    private init() {}

    /// Returns the feed of a store: a new one, or that of the other openings of the same store.
    ///
    /// - Parameter signal: The signal of the store; nil for a store with a single opening.
    /// - Returns: The feed.
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

    // MARK: Listening

    /// Calls `body` for every later commit, until ``remove(_:)``.
    ///
    /// A commit that ends at the same time can be reported too. Look at the store's generation
    /// afterwards, so that commits of other processes can be told from this state.
    ///
    /// - Parameters:
    ///   - ignored: The origin of commits that the listener does not want; see ``ChangeSet/origin``.
    ///   - body: The listener.
    /// - Returns: A number for ``remove(_:)``.
    package func add(ignoring ignored: ObjectIdentifier? = nil, listener body: @escaping Listener) -> Int {
        state.withLock { state in
            if state.listeners.isEmpty { (state.known, state.early) = (nil, [:]) }
            state.lastNumber += 1
            state.listeners.append((state.lastNumber, ignored, body))
            return state.lastNumber
        }
    }

    /// Ends listening.
    package func remove(_ number: Int) { state.withLock { $0.listeners.removeAll { $0.number == number } } }

    // MARK: Commits of this process

    /// Says that a commit begins.
    ///
    /// Until its end is reported, a new generation can be its own.
    package func beginCommit() { state.withLock { $0.openCount += 1 } }

    /// Says that a commit failed, or changed nothing.
    package func endCommit() {
        state.withLock { state in
            state.openCount -= 1
            state.endCount += 1
            Self.tellGap(&state)
        }
    }

    /// Says that a commit ended.
    ///
    /// - Parameters:
    ///   - previous: The generation before.
    ///   - generation: The generation after; another one.
    ///   - origin: The origin of the commit.
    ///   - notice: What it changed, made if a listener wants it.
    package func endCommit(
        from previous: Generation, to generation: Generation, origin: ObjectIdentifier?,
        _ notice: @autoclosure () -> SaveNotice
    ) {
        state.withLock { state in
            state.openCount -= 1
            state.endCount += 1
            guard !state.listeners.isEmpty else { return }
            if generation != state.known {
                let isWanted = state.listeners.contains { $0.ignored == nil || $0.ignored != origin }
                state.early[previous] = Ended(
                    generation: generation, origin: origin, notice: isWanted ? notice() : nil)
                if state.known == nil { state.known = previous }
                Self.tellEarly(&state)
            }
            Self.tellGap(&state)
        }
    }

    /// Reports the commits that follow on what listeners know.
    private static func tellEarly(_ state: inout State) {
        while let known = state.known, let next = state.early.removeValue(forKey: known) {
            state.known = next.generation
            guard let notice = next.notice else { continue }
            for listener in state.listeners where listener.ignored == nil || listener.ignored != next.origin {
                listener.body(notice)
            }
        }
    }

    /// Reports commits that follow on a commit of another process, if no commit of this process can
    /// come between.
    private static func tellGap(_ state: inout State) {
        guard !state.early.isEmpty, let known = state.known, state.openCount == 0 || state.early.count > mostEarly,
            !state.hasHistory || state.early.count > mostEarly
        else { return }
        let ends = Set(state.early.values.map(\.generation))
        // Generations have no order here, so any of several chains can be the last.
        for start in state.early.keys where !ends.contains(start) {
            if let store = state.early.values.lazy.compactMap(\.notice?.store).first {
                let gap = SaveNotice(store: store, generations: (known, start), lists: nil)
                for listener in state.listeners { listener.body(gap) }
            }
            state.known = start
            tellEarly(&state)
        }
        state.early = [:]
    }

    // MARK: Commits of others

    /// The state of listeners before a look.
    package struct Ticket: Sendable {
        /// The generation that they know; nil before the first look.
        package let known: Generation?
        fileprivate let endCount: Int
    }

    /// Returns the ticket of a look, before the generation is read; nil without listeners, and during
    /// a commit of this process.
    package func ticket() -> Ticket? {
        state.withLock { state in
            state.listeners.isEmpty || state.openCount > 0
                ? nil : Ticket(known: state.known, endCount: state.endCount)
        }
    }

    /// A look at the generation of a store.
    package struct Look: Sendable {
        /// The state of listeners before it.
        package let ticket: Ticket
        /// The generation of the store.
        package let generation: Generation
        /// The store.
        package let store: StoreLocation
        /// The changes since the ticket's generation; nil if they are unknown.
        package var changes: SaveNotice?
        /// Whether later looks can find the changes.
        package var hasHistory = false

        /// Creates a look that knows a generation.
        package init(at generation: Generation, of store: StoreLocation, ticket: Ticket) {
            (self.generation, self.store, self.ticket) = (generation, store, ticket)
        }
    }

    /// Reports commits of other processes: compares the generation of the store with the generation
    /// that listeners know.
    ///
    /// - Returns: False, after nothing was done, if a commit of this process began or ended since the
    ///   ticket, or all listeners ended.
    @discardableResult
    package func look(_ look: Look) -> Bool {
        let (ticket, generation) = (look.ticket, look.generation)
        return state.withLock { state in
            guard !state.listeners.isEmpty, state.openCount == 0, state.endCount == ticket.endCount,
                state.known == ticket.known
            else { return false }
            state.hasHistory = look.hasHistory
            state.known = generation
            // The commits of this process that wait are older than the look.
            state.early = [:]
            guard let known = ticket.known, known != generation else { return true }
            let notice =
                look.changes
                ?? SaveNotice(store: look.store, generations: (known, generation), lists: nil)
            for listener in state.listeners { listener.body(notice) }
            return true
        }
    }
}

/// The identity of a signal, the same for all openings of a store.
package struct CommitSignalID: Hashable, Sendable {
    private let device: UInt64
    private let inode: UInt64

    /// Makes the identity of the file of a signal.
    package init(device: UInt64, inode: UInt64) { (self.device, self.inode) = (device, inode) }
}

/// A sign for other processes that a store was changed: a file that is touched after each commit,
/// once the commit is visible.
package protocol CommitSignal: AnyObject, Sendable {
    /// The path of the file, to be watched.
    var path: String { get }
    /// The identity of the file.
    var id: CommitSignalID { get }

    /// Touches the file.
    ///
    /// Where that fails, watchers find the commit when they next look.
    func raise()
}

/// A storage or a database that has a signal.
package protocol CommitSignaling {
    /// The signal; nil where this user can make none.
    var commitSignal: (any CommitSignal)? { get }
}

/// A store that reports its commits.
package protocol CommitReportingStore: PersistentStore {
    /// The feed of the store.
    var commitFeed: CommitFeed { get }
    /// The signal of the store; nil for a store of one process.
    var commitSignal: (any CommitSignal)? { get }
}

extension PersistentStore {
    /// Returns the generation of the store now; nil if it records none.
    package func currentGeneration() throws(StoreError) -> Generation? {
        let snapshot = try snapshot()
        defer { snapshot.close() }
        return try snapshot.recordedTally()?.generation
    }
}

extension CommitReportingStore {
    /// Runs a commit and reports it: to listeners of this process, then to other processes.
    package func reporting(_ commit: () throws(StoreError) -> CommitReceipt) throws(StoreError) -> CommitReceipt {
        commitFeed.beginCommit()
        let receipt: CommitReceipt
        do throws(StoreError) { receipt = try commit() } catch {
            commitFeed.endCommit()
            throw error
        }
        if receipt.hasChanges {
            commitFeed.endCommit(
                from: receipt.previousGeneration, to: receipt.generation, origin: receipt.changes.origin,
                receipt.notice(for: location))
            commitSignal?.raise()
        } else {
            commitFeed.endCommit()
        }
        return receipt
    }

    /// Runs a change that can concern any object, and reports it.
    ///
    /// - Parameter change: Returns the generations before and after it.
    /// - Returns: The result of the change.
    /// - Throws: The error of the change.
    package func reportingAll<Result>(
        _ change: () throws(StoreError) -> (previous: Generation, now: Generation, result: Result)
    ) throws(StoreError) -> Result {
        commitFeed.beginCommit()
        let (previous, now, result): (Generation, Generation, Result)
        do throws(StoreError) { (previous, now, result) = try change() } catch {
            commitFeed.endCommit()
            throw error
        }
        if previous == now {
            commitFeed.endCommit()
        } else {
            commitFeed.endCommit(
                from: previous, to: now, origin: nil,
                SaveNotice(store: location, generations: (previous, now), lists: nil))
            commitSignal?.raise()
        }
        return result
    }
}

extension CommitReceipt {
    /// Returns a notice of the commit.
    fileprivate func notice(for store: StoreLocation) -> SaveNotice {
        let (inserted, updated, deleted) = (insertedIDs, updatedIDs, deletedIDs)
        var known = Set(inserted).union(updated).union(deleted)
        let relinked = relinkedIDs.filter { known.insert($0).inserted }
        return SaveNotice(
            store: store, generations: (previousGeneration, generation), author: (changes.author, changes.contextName),
            lists: SaveNotice.Lists(inserted: inserted, updated: updated + relinked, deleted: deleted))
    }
}
