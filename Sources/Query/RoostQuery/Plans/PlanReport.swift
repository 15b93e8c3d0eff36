package import RoostCore

/// The plan of a request, as JSON for programs and as text for people.
package struct PlanReport: Encodable {
    package struct Access: Encodable {
        let kind: String
        var name: String?
        var statement: String?
    }

    package let access: [Access]
    let decidedByAccess: [String]
    let filteredAfterwards: [String]
    let order: String
    let keptAtMost: Int?
    let visited: Int?
    let missingIndex: String?

    package init(_ plan: FetchPlan, missingIndex: String?) {
        self.missingIndex = missingIndex
        access = plan.access.map { access in
            switch access {
            case .scan: Access(kind: "scan")
            case .keys: Access(kind: "keys")
            case .index(let name): Access(kind: "index", name: name)
            case .relationship(let name): Access(kind: "relationship", name: name)
            case .statement(let text): Access(kind: "statement", statement: text)
            case .nothing: Access(kind: "nothing")
            }
        }
        (decidedByAccess, filteredAfterwards, visited) =
            (plan.decidedByAccess, plan.filteredAfterwards, plan.visitedCount)
        switch plan.order {
        case .asFound: (order, keptAtMost) = ("asFound", nil)
        case .byDatabase: (order, keptAtMost) = ("byDatabase", nil)
        case .sorted: (order, keptAtMost) = ("sorted", nil)
        case .best(let count): (order, keptAtMost) = ("best", count)
        }
    }

    /// The plan as lines of text, each with a label.
    package var lines: [String] {
        let asksDatabase = access.contains { $0.kind == "statement" }
        var lines = access.map { access in
            switch access.kind {
            case "scan": "reads      all objects of the entity"
            case "keys" where asksDatabase:
                missingIndex == nil
                    ? "reads      objects by key" : "reads      all objects of an entity, and others by key"
            case "keys": "reads      the objects with the given keys"
            case "index": "reads      by the index \(access.name ?? "")"
            case "relationship": "reads      by the relationship \(access.name ?? "")"
            case "statement": "runs       \(access.statement ?? "")"
            default: "reads      nothing: no object can meet the condition"
            }
        }
        lines += decidedByAccess.map { "decides    \($0)" }
        lines += filteredAfterwards.map { "filters    \($0)" }
        switch order {
        case "byDatabase": lines.append("sorts      in the database")
        case "sorted": lines.append("sorts      all objects that match")
        case "best": lines.append("sorts      keeping the first \(keptAtMost ?? 0) objects")
        default: lines.append("sorts      nothing: objects are found in the requested order")
        }
        if let visited { lines.append("visited    \(visited)") }
        if let missingIndex { lines.append("hint       an index on \(missingIndex) would help") }
        return lines
    }
}
