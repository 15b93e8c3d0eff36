internal import RoostCore

/// The plans for reading the objects of each entity.
///
/// Each plan is created on first use.
///
/// A plan has all columns of all subentities. Creating all plans at once would take time and memory
/// that grow with the cube of a hierarchy's depth.
final class SQLReading: Sendable {
    /// A plan for reading the objects of one entity and of its subentities.
    struct Plan {
        /// The plan for converting rows to records.
        let rows: SQLReadPlan
        /// The SELECT statement for the row with a key, if the row is of the entity or a subentity.
        let lookupSQL: String
        /// ``lookupSQL`` with a lock to change the row, if several transactions can write.
        ///
        /// Each update uses this text, so it is made once.
        let changingLookupSQL: String
        /// The SELECT statements of a scan of the entity and its subentities in key order.
        ///
        /// `all` selects all rows, `rest` the rows with keys above parameter 1, and `nextKey` the
        /// lowest of these keys.
        let scanSQL: (all: String, rest: String, nextKey: String)
    }

    /// The number of entities.
    let count: Int
    private let make: @Sendable (Int) -> Plan
    /// The plans by entity number.
    private let plans: Mutex<[Plan?]>

    init(_ model: ManagedObjectModel, _ make: @escaping @Sendable (Int) -> Plan) {
        count = model.entities.count
        self.make = make
        plans = Mutex(Array(repeating: nil, count: model.entities.count))
    }

    /// The number of entities whose plan has been created.
    var madeCount: Int { plans.withLock { $0.count { $0 != nil } } }

    /// The plan for converting rows of the entity with the given number, and of its subentities, to
    /// records.
    subscript(number: Int) -> SQLReadPlan { plan(number).rows }

    /// Returns a SELECT of the row with a key, if the row is of the given entity or a subentity.
    func lookupSQL(_ number: Int) -> String { plan(number).lookupSQL }

    /// Returns ``lookupSQL(_:)`` with a lock to change the row, if several transactions can write.
    func changingLookupSQL(_ number: Int) -> String { plan(number).changingLookupSQL }

    /// Returns the SELECT statements of a scan of the given entity and its subentities; see
    /// ``Plan/scanSQL``.
    func scanSQL(_ number: Int) -> (all: String, rest: String, nextKey: String) { plan(number).scanSQL }

    private func plan(_ number: Int) -> Plan {
        if let known = plans.withLock({ $0[number] }) { return known }
        let made = make(number)
        // Another thread may have created the same plan at the same time.
        return plans.withLock { plans in
            if let known = plans[number] { return known }
            plans[number] = made
            return made
        }
    }
}
