internal import RoostCore

/// The plans for reading the objects of each entity, each made when it is first used.
///
/// A plan has every column of every subentity. So the time and memory for all plans of a deep
/// hierarchy would grow with the cube of its depth.
final class SQLReading: Sendable {
    /// A plan for reading the objects of one entity and of its subentities.
    struct Plan {
        /// The plan for making records from rows.
        let rows: SQLReadPlan
        /// The SELECT statement for the row with a key, if it is of the entity or a subentity.
        let lookupSQL: String
        /// The SELECT statements of a scan of the entity and its subentities in key order.
        ///
        /// `all` selects all rows, `rest` the rows with keys above parameter 1, and `nextKey` the
        /// first of these keys.
        let scanSQL: (all: String, rest: String, nextKey: String)
    }

    /// The number of entities.
    let count: Int
    private let make: @Sendable (Int) -> Plan
    /// By entity number.
    private let plans: Mutex<[Plan?]>

    init(_ model: ManagedObjectModel, _ make: @escaping @Sendable (Int) -> Plan) {
        count = model.entities.count
        self.make = make
        plans = Mutex(Array(repeating: nil, count: model.entities.count))
    }

    /// The number of entities whose plan was made.
    var madeCount: Int { plans.withLock { $0.count { $0 != nil } } }

    /// The plan for making records of the entity with a number, and of its subentities, from rows.
    subscript(number: Int) -> SQLReadPlan { plan(number).rows }

    /// SELECT of the one row with a key, if it is of the entity with a number or of a subentity.
    func lookupSQL(_ number: Int) -> String { plan(number).lookupSQL }

    /// SELECT of all rows of the entity with a number and of its subentities; see ``Plan/scanSQL``.
    func scanSQL(_ number: Int) -> (all: String, rest: String, nextKey: String) { plan(number).scanSQL }

    private func plan(_ number: Int) -> Plan {
        if let known = plans.withLock({ $0[number] }) { return known }
        let made = make(number)
        // Another thread may have made the same plan meanwhile.
        return plans.withLock { plans in
            if let known = plans[number] { return known }
            plans[number] = made
            return made
        }
    }
}
