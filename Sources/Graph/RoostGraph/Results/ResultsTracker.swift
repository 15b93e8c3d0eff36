internal import RoostCore
internal import RoostStores

/// A result that updates at the end of each event.
protocol ResultsFollower: AnyObject {
    /// Updates the result, and stores the difference for ``report()``.
    ///
    /// `noted` contains objects that may have changed. If `needsFetch` is true, other objects may
    /// have changed, too.
    func update(_ noted: [ObjectPlace: ResultsNote], needsFetch: Bool)

    func report()
}

/// The recorded changes of an object; empty if it is uncertain whether the object changed.
struct ResultsNote: OptionSet {
    let rawValue: UInt8
    /// The object has certainly changed.
    static let touched = ResultsNote(rawValue: 1)
    /// The object's changes were discarded, or another context deleted the object.
    ///
    /// The object's state must be read from the store.
    static let stored = ResultsNote(rawValue: 2)
}

/// The objects that an event changes, for the results of a context.
///
/// A context without results has no tracker, unless a child context has results.
final class ResultsTracker {
    private struct WeakFollower {
        weak var follower: (any ResultsFollower)?
    }

    private var followers: [WeakFollower] = []
    private var noted: [ObjectPlace: ResultsNote] = [:]
    /// Whether objects that are not in `noted` may have changed.
    private var needsFetch = false
    private var isUpdating = false

    var isEmpty: Bool { followers.allSatisfy { $0.follower == nil } }

    func add(_ follower: any ResultsFollower) { followers.append(WeakFollower(follower: follower)) }

    func remove(_ follower: any ResultsFollower) {
        followers.removeAll { $0.follower == nil || $0.follower === follower }
    }

    // MARK: Recording

    func note(_ object: ManagedObject) { note(ObjectPlace(root: object.root, key: object.key)) }

    func note(_ place: ObjectPlace) {
        noted[place, default: []].formUnion(isPlanted(.forgetsTouched) ? [] : .touched)
    }

    func noteDiscarded(_ object: ManagedObject) {
        if isPlanted(.overlooksDiscarded) { return }
        noted[ObjectPlace(root: object.root, key: object.key), default: []].formUnion([.touched, .stored])
    }

    /// Records that another context deleted an object.
    ///
    /// The object remains in results only if a save of this context would write the object.
    func noteDeletedElsewhere(_ place: ObjectPlace) { noted[place, default: []].formUnion([.touched, .stored]) }

    /// Records that an object may have changed.
    ///
    /// The object is reported only if its values changed.
    func suspect(_ object: ManagedObject) {
        let place = ObjectPlace(root: object.root, key: object.key)
        if noted[place] == nil { noted[place] = [] }
    }

    func noteAll() { needsFetch = true }

    // MARK: Updating

    /// Updates all results, reports the differences, and returns whether anything was updated.
    ///
    /// Changes that the program makes during a report are reported afterwards.
    func update() -> Bool {
        guard !isUpdating, !noted.isEmpty || needsFetch else { return false }
        isUpdating = true
        defer { isUpdating = false }
        while !noted.isEmpty || needsFetch {
            let (noted, needsFetch) = (noted, needsFetch)
            self.noted.removeAll(keepingCapacity: noted.count < 4_096)
            self.needsFetch = false
            var present = followers.compactMap(\.follower)
            if isPlanted(.updatesFirstResult) { present = Array(present.prefix(1)) }
            for follower in present { follower.update(noted, needsFetch: needsFetch) }
            for follower in present { follower.report() }
        }
        return true
    }
}

extension GraphCore {
    func requireResults() -> ResultsTracker {
        // A child's results also follow the parent's changes, so the parent needs a tracker.
        if let parent { _ = parent.core.requireResults() }
        if let results { return results }
        let fresh = ResultsTracker()
        results = fresh
        return fresh
    }

    func endResults(_ follower: any ResultsFollower) {
        results?.remove(follower)
        dropResults()
    }

    private func dropResults() {
        guard results?.isEmpty ?? false else { return }
        var isNeeded = false
        forEachChild { if $0.results != nil { isNeeded = true } }
        guard !isNeeded else { return }
        results = nil
        parent?.core.dropResults()
    }

    /// Updates the results of the context at the end of an event.
    func updateResults() {
        guard let results else { return }
        // A reader that the update opens is closed, so that the program's next event reads the newest state.
        let wasReading = isReading
        let isChanged = results.update()
        if !wasReading { closeReader() }
        guard isChanged, !children.isEmpty else { return }
        // Some changes, such as a reset, do not notify children. So the results of children that
        // merge automatically are fetched again.
        forEachChild { child in
            guard let own = child.results, child.context?.mergesChangesAutomatically ?? false else { return }
            own.noteAll()
            child.updateResults()
        }
    }
}
