internal import RoostCore

/// How the objects of each entity are read, worked out when somebody asks for it.
///
/// A plan has every column of every subentity, so that the plans of all entities of a deep hierarchy would take a time and a memory that
/// grow with the cube of its depth.
final class SQLReading: Sendable {
    private typealias Plan = (plan: SQLReadPlan, lookupSQL: String)

    /// How many entities there are.
    let count: Int
    private let make: @Sendable (Int) -> (plan: SQLReadPlan, lookupSQL: String)
    /// By entity number.
    private let plans: Mutex<[Plan?]>

    init(_ model: ManagedObjectModel, _ make: @escaping @Sendable (Int) -> (plan: SQLReadPlan, lookupSQL: String)) {
        count = model.entities.count
        self.make = make
        plans = Mutex(Array(repeating: nil, count: model.entities.count))
    }

    /// Of how many entities the plan was made.
    var madeCount: Int { plans.withLock { $0.count { $0 != nil } } }

    /// How rows become records of the entity with a number and of its subentities.
    subscript(number: Int) -> SQLReadPlan { plan(number).plan }

    /// SELECT of the one row with a key, if it is of the entity with a number or of a subentity.
    func lookupSQL(_ number: Int) -> String { plan(number).lookupSQL }

    private func plan(_ number: Int) -> Plan {
        if let known = plans.withLock({ $0[number] }) { return known }
        let made = make(number)
        // Another thread may have made the same one meanwhile.
        return plans.withLock { plans in
            if let known = plans[number] { return known }
            plans[number] = made
            return made
        }
    }
}
