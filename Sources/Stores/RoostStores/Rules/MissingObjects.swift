internal import RoostCore

/// The missing objects to which a change refers, without duplicates.
struct MissingObjects {
    private var ids: [ObjectID] = []
    private var known: Set<ObjectID> = []
    private var first: StoreError?

    var isEmpty: Bool { ids.isEmpty }

    /// Returns the result of `body`, or adds `id` and returns nil if `body` throws
    /// `objectNotFound`.
    ///
    /// - Throws: All other errors of `body`.
    mutating func collecting<Result>(
        _ id: ObjectID, _ body: () throws(StoreError) -> Result
    ) throws(StoreError) -> Result? {
        do throws(StoreError) { return try body() } catch {
            guard error.code == .objectNotFound else { throw error }
            if first == nil { first = error }
            if ids.count < FailureList.limit, known.insert(id).inserted { ids.append(id) }
            return nil
        }
    }

    /// Throws all missing objects and all broken rules of a change as one error.
    ///
    /// - Throws: `validationFailed` if a rule is broken, otherwise `objectNotFound`.
    func throwIfAny(with failures: FailureList) throws(StoreError) {
        guard failures.isEmpty else {
            throw ValidationFailure.error(failures.failures).with { $0.missingObjects = ids }
        }
        guard let first else { return }
        let others =
            switch ids.count {
            case 1: ""
            case 2: " Another object does not exist either."
            default: " \(ids.count - 1) more objects do not exist."
            }
        throw first.withMessage(first.message + others).with { $0.missingObjects = ids }
    }
}
