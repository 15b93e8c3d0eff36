import Foundation
import Roost
import RoostCore
import RoostGraph
import TestSamples
import Testing

/// Differences between two states of a result, computed without a context or a store.
@Suite("Differences of results")
struct ResultsListTests {
    private struct Row: Equatable {
        var section: Int
        var sort: Int
        var version: UInt64
    }

    /// The names and objects of a result's sections.
    private struct State: Equatable {
        var names: [String] = []
        var ids: [[ObjectID]] = []
    }

    private static func model() throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [EntityDescription("Row", attributes: [.string("name")])])
    }

    private static func row(_ key: Int64, of row: Row, isOneSection: Bool) -> ResultsRow {
        var order = isOneSection ? [] : [UInt8(row.section)]
        // Like texts, these sort keys have different lengths.
        order += Array(repeating: UInt8(row.sort / 4 + 1), count: 1 + row.sort % 4) + [0]
        return ResultsRow(
            key: key, entity: 0, fingerprint: row.version, order: order,
            section: isOneSection ? "" : "section \(row.section)")
    }

    private static func rows(_ truth: [Int64: Row], isOneSection: Bool, limit: Int?) -> [ResultsRow] {
        var rows: [ResultsRow] = truth.map { row($0.key, of: $0.value, isOneSection: isOneSection) }
        rows.sort { (a: ResultsRow, b: ResultsRow) -> Bool in
            a.order == b.order ? a.key < b.key : a.order.lexicographicallyPrecedes(b.order)
        }
        return limit.map { Array(rows.prefix($0)) } ?? rows
    }

    private static func state(_ rows: [ResultsRow], isOneSection: Bool) -> State {
        var state = isOneSection ? State(names: [""], ids: [[]]) : State()
        for row in rows {
            if state.names.last != row.section {
                state.names.append(row.section)
                state.ids.append([])
            }
            state.ids[state.ids.count - 1].append(ObjectID("Row", key: row.key))
        }
        return state
    }

    private static func state(of list: ResultsList, model: ManagedObjectModel) -> State {
        let sections = list.publicSections(model)
        return State(names: sections.map(\.name), ids: sections.map { Array($0) })
    }

    private static func list(_ rows: [ResultsRow], isOneSection: Bool) -> ResultsList {
        var list = ResultsList(isOneSection: isOneSection)
        for row in rows { list.append(row) }
        return list
    }

    private static func problems(
        _ change: ResultsChange, from old: State, to new: State, touched: Set<ObjectID>, edge: Int
    ) -> [String] {
        var problems: [String] = []
        if change.applying(to: old.ids) != new.ids { problems.append("old + difference is not new") }
        let ids =
            change.deleted.map(\.id) + change.inserted.map(\.id) + change.moved.map(\.id)
            + change.updated.map(\.id)
        if Set(ids).count != ids.count { problems.append("an object is in two lists") }
        if edge == 0, !Set(ids).isSubset(of: touched) { problems.append("an object that nothing touched") }
        if ids.count > touched.count + edge { problems.append("more objects than changed") }
        let names = change.deletedSections.map { old.names[$0] }
        if names != old.names.filter({ !new.names.contains($0) }) { problems.append("the deleted sections") }
        if change.insertedSections.map({ new.names[$0] }) != new.names.filter({ !old.names.contains($0) }) {
            problems.append("the inserted sections")
        }
        for item in change.deleted where old.ids[item.place.section][item.place.item] != item.id {
            problems.append("the place of a deleted object")
        }
        for item in change.inserted where new.ids[item.place.section][item.place.item] != item.id {
            problems.append("the place of an inserted object")
        }
        for move in change.moved + change.updated
        where old.ids[move.from.section][move.from.item] != move.id
            || new.ids[move.to.section][move.to.item] != move.id
        {
            problems.append("the places of \(move.id)")
        }
        return problems
    }

    private static let count = ProcessInfo.processInfo.environment["ROOST_RESULTS_EVENTS"].flatMap { Int($0) } ?? 1_500
    private static let seed = ProcessInfo.processInfo.environment["ROOST_GRAPH_SEED"].flatMap { UInt64($0) } ?? 1

    @Test("a difference of results turns the old state into the new one, for random events", arguments: 0..<6)
    func randomEvents(_ kind: Int) throws {
        let model = try Self.model()
        let isOneSection = kind % 2 == 0
        let limit = kind >= 4 ? 12 : nil
        let isLarge = kind >= 2 && kind < 4
        var random = SeededGenerator(seed: Self.seed &* 31 &+ UInt64(kind))
        var events = 0
        while events < Self.count / (isLarge ? 20 : 1) {
            var truth: [Int64: Row] = [:]
            let most = Int64.random(in: 1...(isLarge ? 2_000 : 40), using: &random)
            var list = Self.list([], isOneSection: isOneSection)
            for _ in 0..<30 {
                var touched: [Int64: Row?] = [:]
                for _ in 0..<Int.random(in: 1...(isLarge ? 400 : 12), using: &random) {
                    let key = Int64.random(in: 1...most, using: &random)
                    let isRemoved = Int.random(in: 0..<4, using: &random) == 0
                    var row = Row(
                        section: Int.random(in: 0..<4, using: &random), sort: Int.random(in: 0..<20, using: &random),
                        version: UInt64.random(in: 0..<3, using: &random))
                    if Bool.random(using: &random), let known = truth[key] {
                        (row.section, row.sort) = (known.section, known.sort)
                    }
                    touched[key] = .some(isRemoved ? nil : row)
                }
                let before = truth
                for (key, row) in touched { truth[key] = row }
                let oldRows = Self.rows(before, isOneSection: isOneSection, limit: limit)
                let newRows = Self.rows(truth, isOneSection: isOneSection, limit: limit)
                let old = Self.state(oldRows, isOneSection: isOneSection)
                let new = Self.state(newRows, isOneSection: isOneSection)
                let ids = Set(touched.keys.map { ObjectID("Row", key: $0) })
                let edge = limit == nil ? 0 : touched.count
                var fetched = Self.list(newRows, isOneSection: isOneSection)
                let whole = fetched.difference(
                    from: Self.list(oldRows, isOneSection: isOneSection), touched: Set(touched.keys), model: model)
                var problems = Self.problems(whole, from: old, to: new, touched: ids, edge: edge)
                // If the old list had reached its limit, the changes may lack rows that move in.
                let isLost = limit.map { oldRows.count == $0 } ?? false
                if isLost {
                    list = fetched
                } else {
                    let changes = touched.map { key, row in
                        let row = row.map { Self.row(key, of: $0, isOneSection: isOneSection) }
                        return ResultsRowChange(key: key, row: row, isTouched: true)
                    }
                    let change = list.apply(changes, limit: limit, model: model)
                    problems += Self.problems(change, from: old, to: new, touched: ids, edge: edge)
                    if Self.state(of: list, model: model) != new { problems.append("the list") }
                    if change.entryCount > whole.entryCount { problems.append("more entries than needed") }
                }
                guard problems.isEmpty else {
                    Issue.record("ROOST_GRAPH_SEED=\(Self.seed) kind \(kind), event \(events): \(problems)")
                    return
                }
                events += 1
            }
        }
    }

    @Test("a difference of results moves as few unchanged rows as possible")
    func relatedOrders() throws {
        let model = try Self.model()
        func list(_ keys: [Int64]) -> ResultsList {
            var list = ResultsList(isOneSection: true)
            for (index, key) in keys.enumerated() {
                list.append(ResultsRow(key: key, entity: 0, fingerprint: 0, order: [UInt8(index)]))
            }
            return list
        }
        var new = list([1, 5, 2, 3, 4, 6])
        let change = new.difference(from: list([1, 2, 3, 4, 5, 6]), touched: [3], model: model)
        #expect(change.moved.map(\.id.key) == [5])
        #expect(change.updated.map(\.id.key) == [3])
        #expect(change.entryCount == 2)
        #expect(change.moved.first?.from == ResultsPlace(section: 0, item: 4))
        #expect(change.moved.first?.to == ResultsPlace(section: 0, item: 1))
    }

    @Test("a difference of results that is applied to another list does not trap")
    func wrongList() throws {
        var list = ResultsList(isOneSection: true)
        let model = try Self.model()
        let change = list.apply(
            (1...5).map { key in
                ResultsRowChange(
                    key: key, row: ResultsRow(key: key, entity: 0, fingerprint: 0, order: [UInt8(key)]), isTouched: true
                )
            }, model: model)
        #expect(change.inserted.count == 5)
        #expect(change.applying(to: []) == [])
        #expect(change.applying(to: [[]]).first?.count == 5)
    }
}
