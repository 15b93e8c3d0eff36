internal import RoostCore

/// The store that a migration in three passes fills, first by a bulk load, then by commits.
///
/// Commits in an unpublished store are cheap, because they are not flushed. Use a
/// `DestinationOutput` on one thread only.
final class DestinationOutput {
    private enum State {
        case loading(DestinationLoad)
        case open
        case closed
    }

    private let store: any PersistentStore
    private var state: State
    private var openSnapshot: (any StoreSnapshot)?
    /// Whether content was committed after the bulk load.
    ///
    /// If so, the store's file must be flushed before it is published.
    private(set) var hasCommitted = false

    init(_ store: any PersistentStore, load: DestinationLoad) {
        self.store = store
        state = .loading(load)
    }

    /// The load, or nil after it is finished.
    var load: DestinationLoad? {
        if case .loading(let load) = state { return load }
        return nil
    }

    var isOpen: Bool {
        if case .open = state { return true }
        return false
    }

    /// Throws `closed` after ``close()``.
    func requireUnfinished() throws(StoreError) {
        if case .closed = state {
            throw StoreError(
                .closed,
                "Cannot change the destination: its objects are already validated. Create and change objects in an earlier callback."
            )
        }
    }

    /// Finishes the load, so that written content can be read.
    func finishLoad() throws(StoreError) {
        guard let load else { return }
        _ = try load.finish()
        state = .open
    }

    /// Returns a snapshot of the store, reused until the next commit.
    func snapshot() throws(StoreError) -> any StoreSnapshot {
        if let openSnapshot { return openSnapshot }
        let snapshot = try store.snapshot()
        openSnapshot = snapshot
        return snapshot
    }

    func commit(_ changes: ChangeSet) throws(StoreError) {
        closeSnapshot()
        hasCommitted = true
        _ = try store.commit(changes)
    }

    func close() {
        closeSnapshot()
        state = .closed
    }

    /// Cancels the load and discards its content.
    ///
    /// Commits remain until the owner discards the store.
    func abandon() {
        closeSnapshot()
        load?.abandon()
        state = .closed
    }

    private func closeSnapshot() {
        openSnapshot?.close()
        openSnapshot = nil
    }
}
