internal import RoostCore

/// The damaged objects that a conversion or a migration skips.
///
/// A damaged object is listed once, even if several mappings read it.
struct SkippedObjects: Sendable {
    private(set) var ids: [ObjectID] = []
    private var known: Set<ObjectID> = []

    private static let limit = 100_000

    var isEmpty: Bool { ids.isEmpty }

    /// Records the object that an error is about.
    ///
    /// - Throws: `error` if it names no object, because the cursor then cannot continue;
    ///   `corrupted` if there are too many damaged objects.
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
