package import RoostCore
internal import RoostSystem

/// A subscription that calls a listener after each commit to a store.
///
/// A subscription ends when it is deallocated.
package final class CommitSubscription: Sendable {
    private let feed: CommitFeed
    private let number: Int
    private let entry: CommitWatcher.Entry

    /// Starts the subscription.
    ///
    /// A store that does not report commits itself is checked only once per second. The listener
    /// runs on the thread of the commit or of the watcher. A non-nil `ignored` excludes commits
    /// with this ``ChangeSet/origin``. `end` is called once, when the store is closed or replaced.
    package init(
        to store: Store, ignoring ignored: ObjectIdentifier? = nil, listener: @escaping CommitFeed.Listener,
        end: @escaping @Sendable () -> Void
    ) throws(StoreError) {
        let reporting = store.persistentStore as? any CommitReportingStore
        let feed = reporting?.commitFeed ?? CommitFeed.of(nil)
        self.feed = feed
        let location = store.location
        number = feed.add(ignoring: ignored) { notice in
            var notice = notice
            // If the store is also open with another path, the notice can contain that path.
            notice.store = location
            listener(notice)
        }
        entry = CommitWatcher.Entry(store.persistentStore, feed: feed, signal: reporting?.commitSignal, end: end)
        // The watch starts before the first check, so that commits after the check are found
        // immediately.
        CommitWatcher.shared.add(entry)
        do throws(StoreError) { try entry.lookFirst() } catch {
            stop()
            throw error
        }
    }

    deinit { stop() }

    /// Whether the system reports commits of other processes.
    package var isWatched: Bool { CommitWatcher.shared.watches(entry) }

    private func stop() {
        feed.remove(number)
        CommitWatcher.shared.remove(entry)
    }
}

/// A watcher that checks every store that has listeners, each second and when its signal is raised.
///
/// All stores of the process share one thread, which runs while a store has listeners.
final class CommitWatcher: Sendable {
    final class Entry: Sendable {
        private let store: any PersistentStore
        private let feed: CommitFeed
        private let signal: (any CommitSignal)?
        private let end: @Sendable () -> Void
        /// The token of the last reported transaction.
        private let lastToken = Mutex<HistoryToken?>(nil)
        /// Whether the entry has ended; locked while the store is read.
        private let isEnded = Mutex(false)
        /// The observation of a signal that is not a file.
        private let observation = Mutex<(any AnyObject & Sendable)?>(nil)

        init(
            _ store: any PersistentStore, feed: CommitFeed, signal: (any CommitSignal)?,
            end: @escaping @Sendable () -> Void
        ) {
            (self.store, self.feed, self.signal, self.end) = (store, feed, signal, end)
        }

        fileprivate var path: String? { signal?.path }

        fileprivate var isObserved: Bool { observation.withLock { $0 != nil } }

        fileprivate func observe() {
            let made = signal?.observe { [weak self] in _ = self?.lookAgain() }
            observation.withLock { $0 = made }
        }

        func isOf(_ other: any PersistentStore) -> Bool { store === other }

        /// Reports the generation of the store to the feed.
        private func look() throws(StoreError) {
            guard let ticket = feed.ticket() else {
                // A running commit of this process will report its generation. Only check that the store is open.
                _ = try store.metadata()
                return
            }
            let snapshot = try store.snapshot()
            defer { snapshot.close() }
            guard let generation = try snapshot.recordedTally()?.generation else { return }
            guard try snapshot.hasHistory() else {
                feed.look(CommitFeed.Look(at: generation, of: store.location, ticket: ticket))
                return
            }
            let token = try snapshot.historyToken()
            var look = CommitFeed.Look(at: generation, of: store.location, ticket: ticket)
            look.hasHistory = true
            if let known = ticket.known, known != generation, let last = lastToken.withLock({ $0 }) {
                look.changes = try snapshot.notice(after: last, from: known, to: generation, of: store.location)
            }
            if feed.look(look) { lastToken.withLock { $0 = token } }
        }

        fileprivate func lookFirst() throws(StoreError) {
            try isEnded.withLock { (isEnded) throws(StoreError) in
                guard !isEnded else { throw StoreError(.closed, "The store '\(store.location)' is closed.") }
                try look()
            }
        }

        /// Checks the store, and returns false if the entry has ended.
        fileprivate func lookAgain() -> Bool {
            let (wasEnded, isOver) = isEnded.withLock { (isEnded) -> (Bool, Bool) in
                guard !isEnded else { return (true, true) }
                do throws(StoreError) { try look() } catch {
                    // Other errors may be temporary. A later check then reports the missed commits.
                    isEnded = error.code == .closed || error.code == .storeReplaced
                }
                return (false, isEnded)
            }
            if isOver, !wasEnded { end() }
            return !isOver
        }

        /// Ends the entry; afterwards, the store is not read.
        fileprivate func stop() {
            let isOver = isEnded.withLock { isEnded in
                defer { isEnded = true }
                return !isEnded
            }
            // The observation ends outside the lock of `isEnded`, which its thread may need to
            // check the store.
            let observed = observation.withLock { $0.take() }
            withExtendedLifetime(observed) {}
            if isOver { end() }
        }
    }

    static let shared = CommitWatcher()

    private struct State {
        /// The entries, each with the watch's number for its file, or nil if no file is watched.
        var entries: [ObjectIdentifier: (entry: Entry, number: CInt?)] = [:]
        var isRunning = false
    }

    /// The maximum time between two checks of a store.
    private static let milliseconds = 1000
    /// The pause after a check, so that frequent commits do not keep the thread busy.
    private static let pauseMicroseconds: UInt32 = 10_000

    private let state = Mutex(State())
    private let watch = FileWatch()

    func add(_ entry: Entry) {
        entry.observe()
        let startsThread = state.withLock { state in
            // The file is watched under the lock, because entries of one file share a number, and
            // removing the last entry removes the number.
            state.entries[ObjectIdentifier(entry)] = (entry, entry.path.flatMap { watch?.add($0) })
            defer { state.isRunning = true }
            return !state.isRunning
        }
        guard startsThread else { return }
        do throws(SystemFailure) {
            try SystemThread.start("roost watcher", stackByteCount: 1 << 20) { self.run() }
        } catch {
            // Without a thread, only commits of this process are reported. The next call of this
            // method tries again.
            state.withLock { $0.isRunning = false }
        }
    }

    func remove(_ entry: Entry) {
        let removed = state.withLock { state in
            let removed = state.entries.removeValue(forKey: ObjectIdentifier(entry))
            if let number = removed?.number, !state.entries.values.contains(where: { $0.number == number }) {
                watch?.remove(number)
            }
            return removed
        }
        // The entry can have the last reference to a store, which must be released outside the
        // lock.
        withExtendedLifetime(removed) {}
    }

    fileprivate func watches(_ entry: Entry) -> Bool {
        entry.isObserved || state.withLock { $0.entries[ObjectIdentifier(entry)]?.number != nil }
    }

    /// Ends all entries of a store, before it is closed.
    func end(_ store: any PersistentStore) {
        let entries = state.withLock { $0.entries.values.map(\.entry).filter { $0.isOf(store) } }
        for entry in entries {
            entry.stop()
            remove(entry)
        }
    }

    private func run() {
        var lastLook = ContinuousClock.now
        while true {
            let outcome = wait()
            var numbers: Set<CInt>?
            if case .files(let found) = outcome, lastLook.duration(to: .now) < .milliseconds(Self.milliseconds) {
                numbers = found
            } else {
                lastLook = .now
            }
            guard look(at: numbers) else { return }
            usleep(Self.pauseMicroseconds)
        }
    }

    /// Checks the stores whose files have these watch numbers, or all stores if `numbers` is nil.
    ///
    /// Returns false if no store has listeners, so that the thread must end.
    private func look(at numbers: Set<CInt>?) -> Bool {
        let entries: [Entry]? = state.withLock { state in
            if state.entries.isEmpty {
                state.isRunning = false
                return nil
            }
            return state.entries.values.filter { known in
                numbers.map { numbers in known.number.map(numbers.contains) ?? false } ?? true
            }.map(\.entry)
        }
        guard let entries else { return false }
        for entry in entries where !entry.lookAgain() { remove(entry) }
        return true
    }

    private func wait() -> FileWatch.Outcome {
        if let outcome = watch?.wait(milliseconds: Self.milliseconds) { return outcome }
        usleep(UInt32(Self.milliseconds) * 1000)
        return .nothing
    }
}

extension StoreSnapshot {
    /// Returns a notice of the transactions after `known`, or nil if the notice would be incomplete
    /// or a part of the history was removed.
    ///
    /// `token` belongs to `known` or to an older generation.
    fileprivate func notice(
        after token: HistoryToken, from known: Generation, to generation: Generation, of store: StoreLocation
    ) throws(StoreError) -> SaveNotice? {
        let cursor: any HistoryCursor
        do throws(StoreError) { cursor = try historyCursor(HistoryRequest(after: token)) } catch {
            guard error.code == .historyExpired else { throw error }
            return nil
        }
        var union: NoticeUnion?
        // The cursor returns a large transaction in several parts. Only the last part has
        // `isComplete` and the transaction's token.
        var (parts, count) = ([SaveNotice](), 0)
        while let transaction = try cursor.next() {
            let notice = SaveNotice(transaction, of: store, from: known, to: generation)
            count += transaction.changes.count
            if count <= SaveNotice.mostIDs { parts.append(notice) }
            guard transaction.isComplete else { continue }
            if transaction.token.position > known.number {
                guard notice.isComplete, count <= SaveNotice.mostIDs else { return nil }
                for part in parts {
                    if union == nil { union = NoticeUnion(part) } else { union?.append(part) }
                }
                if union?.isComplete == false { return nil }
            }
            (parts, count) = ([], 0)
        }
        return union?.notice
    }
}

extension SaveNotice {
    fileprivate init(
        _ transaction: HistoryTransaction, of store: StoreLocation, from known: Generation, to generation: Generation
    ) {
        func ids(_ kind: HistoryChange.Kind) -> [ObjectID] {
            transaction.changes.lazy.filter { $0.kind == kind }.map(\.id)
        }
        var named = Set(transaction.changes.map(\.id))
        var relinked: [ObjectID] = []
        for change in transaction.linkChanges {
            for id in [change.source, change.target] where named.insert(id).inserted { relinked.append(id) }
        }
        self.init(
            store: store, generations: (known, generation), author: (transaction.author, transaction.contextName),
            lists: transaction.kind == .commit || transaction.kind == .load
                ? Lists(inserted: ids(.insert), updated: ids(.update) + relinked, deleted: ids(.delete)) : nil)
    }
}
