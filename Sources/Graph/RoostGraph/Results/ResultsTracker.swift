internal import RoostCore
internal import RoostStores

/// A result that is kept up to date at the ends of events.
protocol ResultsFollower: AnyObject {
    /// Takes over what objects became, and keeps the difference for ``report()``.
    ///
    /// - Parameters:
    ///   - noted: The objects that changed or can have changed.
    ///   - needsFetch: Whether others can have changed, too.
    func update(_ noted: [ObjectPlace: ResultsNote], needsFetch: Bool)

    /// Calls the program with the difference.
    func report()
}

/// The facts that are noted about an object.
///
/// An empty set means that the object can have changed.
struct ResultsNote: OptionSet {
    let rawValue: UInt8
    /// The object changed for certain.
    static let touched = ResultsNote(rawValue: 1)
    /// The store decides what the object is: its changes were discarded, and another context can
    /// have deleted it.
    static let stored = ResultsNote(rawValue: 2)
}

/// Notes which objects an event changes, for the results of a context.
///
/// A context without results has none, so that it pays nothing.
final class ResultsTracker {
    private struct WeakFollower {
        weak var follower: (any ResultsFollower)?
    }

    private var followers: [WeakFollower] = []
    private var noted: [ObjectPlace: ResultsNote] = [:]
    /// Whether any object can have changed.
    private var needsFetch = false
    private var isUpdating = false

    var isEmpty: Bool { followers.allSatisfy { $0.follower == nil } }

    func add(_ follower: any ResultsFollower) { followers.append(WeakFollower(follower: follower)) }

    /// Removes a follower that ends, and followers that have ended.
    func remove(_ follower: any ResultsFollower) {
        followers.removeAll { $0.follower == nil || $0.follower === follower }
    }

    // MARK: Noting

    /// Notes that an object changed.
    func note(_ object: ManagedObject) { note(ObjectPlace(root: object.root, key: object.key)) }

    /// Notes that an object changed.
    func note(_ place: ObjectPlace) {
        noted[place, default: []].formUnion(isPlanted(.forgetsTouched) ? [] : .touched)
    }

    /// Notes that the changes of an object were discarded.
    func noteDiscarded(_ object: ManagedObject) {
        if isPlanted(.overlooksDiscarded) { return }
        noted[ObjectPlace(root: object.root, key: object.key), default: []].formUnion([.touched, .stored])
    }

    /// Notes that another context deleted an object.
    ///
    /// It stays in results only with values that a save would write.
    func noteDeletedElsewhere(_ place: ObjectPlace) { noted[place, default: []].formUnion([.touched, .stored]) }

    /// Notes that an object can have changed: it is reported only if its values differ.
    func suspect(_ object: ManagedObject) {
        let place = ObjectPlace(root: object.root, key: object.key)
        if noted[place] == nil { noted[place] = [] }
    }

    /// Notes that any object can have changed, so that results are fetched again.
    func noteAll() { needsFetch = true }

    // MARK: Updating

    /// Updates all results, and reports what differs.
    ///
    /// What the program changes while it is called is reported afterwards. So the program always
    /// sees the state after a difference when it gets the difference.
    ///
    /// - Returns: Whether anything was noted.
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
    /// Returns the tracker, and makes one if results are followed for the first time.
    func requireResults() -> ResultsTracker {
        // A child follows its parent.
        if let parent { _ = parent.core.requireResults() }
        if let results { return results }
        let fresh = ResultsTracker()
        results = fresh
        return fresh
    }

    /// Ends the following of a result.
    func endResults(_ follower: any ResultsFollower) {
        results?.remove(follower)
        dropResults()
    }

    /// Ends the tracker if no result needs it.
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
        // Reads for results do not begin an event of the program.
        let wasReading = isReading
        let isChanged = results.update()
        if !wasReading { closeReader() }
        guard isChanged, !children.isEmpty else { return }
        // Children get no notice of some changes, such as a rollback, so their results are fetched
        // again.
        forEachChild { child in
            guard let own = child.results, child.context?.mergesChangesAutomatically ?? false else { return }
            own.noteAll()
            child.updateResults()
        }
    }
}
