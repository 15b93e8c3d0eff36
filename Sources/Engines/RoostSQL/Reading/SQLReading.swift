internal import RoostCore

/// The plans for reading the objects of each entity, created on first use.
///
/// A plan lists the columns separately for each subentity, so the cost of all plans grows with the
/// cube of a hierarchy's depth.
final class SQLReading: Sendable {
    /// A plan for reading the objects of one entity and its subentities.
    struct Plan {
        let rows: SQLReadPlan
        /// The SELECT of the row with a key, if the row is of the entity or a subentity.
        let lookupSQL: String
        /// The form of ``lookupSQL`` that locks the row for a change, if several transactions can
        /// write.
        let changingLookupSQL: String
        /// The SELECT statements of a scan in key order.
        ///
        /// `all` selects all rows, `rest` the rows with keys above parameter 1, and `nextKey` the
        /// lowest of these keys.
        let scanSQL: (all: String, rest: String, nextKey: String)
    }

    let count: Int
    private let make: @Sendable (Int) -> Plan
    private let plans: Mutex<[Plan?]>

    init(_ model: ManagedObjectModel, _ make: @escaping @Sendable (Int) -> Plan) {
        count = model.entities.count
        self.make = make
        plans = Mutex(Array(repeating: nil, count: model.entities.count))
    }

    /// The number of entities whose plan has been created.
    var madeCount: Int { plans.withLock { $0.count { $0 != nil } } }

    subscript(number: Int) -> SQLReadPlan { plan(number).rows }

    func lookupSQL(_ number: Int) -> String { plan(number).lookupSQL }

    func changingLookupSQL(_ number: Int) -> String { plan(number).changingLookupSQL }

    func scanSQL(_ number: Int) -> (all: String, rest: String, nextKey: String) { plan(number).scanSQL }

    private func plan(_ number: Int) -> Plan {
        if let known = plans.withLock({ $0[number] }) { return known }
        let made = make(number)
        // Another thread may have created the plan meanwhile.
        return plans.withLock { plans in
            if let known = plans[number] { return known }
            plans[number] = made
            return made
        }
    }
}
