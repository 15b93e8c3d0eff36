internal import RoostCore

/// The damaged objects that a conversion or a migration leaves out; an object that is met again, by
/// another mapping, is noted once.
struct SkippedObjects: Sendable {
    /// In the order in which they were met.
    private(set) var ids: [ObjectID] = []
    private var known: Set<ObjectID> = []

    /// The damaged objects after which a source counts as lost.
    private static let limit = 100_000

    var isEmpty: Bool { ids.isEmpty }

    /// Notes the object that an error is about.
    ///
    /// - Throws: `error` if it names no object, since only an error that names one promises that
    ///   the cursor continues after it; `corrupted` for too many.
    mutating func note(_ error: StoreError) throws(StoreError) {
        guard let damaged = error.damagedObject else { throw error }
        guard known.insert(damaged).inserted else { return }
        guard ids.count < Self.limit else {
            throw StoreError(
                .corrupted, "More than \(Self.limit) records of the source are damaged; restore a backup.",
                underlying: error)
        }
        ids.append(damaged)
    }
}
