internal import Foundation
internal import RoostCore

/// A shrinker of failing requests and their objects.
///
/// It leaves out parts while the request still fails in the same way.
struct QueryShrinker {
    struct Failure: Error {
        let store: String
        let world: QueryWorld
        let request: RowRequest
        let difference: QueryLane.Difference
        let answer: QueryLane.Answer
        /// The predicate before it was shrunk.
        var original: FetchRequest.Predicate?

        /// The body of a test that shows the failure.
        var swiftCode: String {
            var lines = ["var changes = ChangeSet(model: store.model)"]
            for object in world.objects {
                lines.append(
                    "try changes.insert(\(SwiftCode.code(object.id)), values: \(SwiftCode.code(object.values)))")
            }
            for named in world.links {
                lines.append(
                    "try changes.add(\(SwiftCode.code(named.link)), to: \(SwiftCode.code(named.relationship)))")
            }
            lines += [
                "_ = try store.commit(changes)",
                request.propertiesToFetch.isEmpty
                    ? "let request = \(SwiftCode.code(request.fetchRequest))"
                    : "var request = RowRequest(\(SwiftCode.code(request.fetchRequest)))",
            ]
            if !request.propertiesToFetch.isEmpty {
                let columns = request.propertiesToFetch.map {
                    ".init(\(SwiftCode.code($0.name)), expression: \(SwiftCode.code($0.expression)))"
                }
                lines += [
                    "request.propertiesToFetch = \(SwiftCode.list(columns))",
                    "request.propertiesToGroupBy = \(SwiftCode.list(request.propertiesToGroupBy.map { SwiftCode.code($0) }))",
                    "request.havingPredicate = \(request.havingPredicate.map { SwiftCode.code($0) } ?? "nil")",
                    "request.returnsDistinctResults = \(request.returnsDistinctResults)",
                ]
            }
            lines.append("// \(difference.subject): expected \(difference.expected)")
            return (lines + expectation).joined(separator: "\n")
        }

        private var expectation: [String] {
            switch answer {
            case .keys(let keys): return ["#expect(try store.snapshot().keys(request) == \(keys))"]
            case .rows(let rows):
                let expected = SwiftCode.list(rows.map { row in SwiftCode.list(row.map { SwiftCode.code($0) }) })
                return [
                    "let cursor = try store.snapshot().rows(request)", "var (rows, batch) = ([[Value]](), RowBatch())",
                    "while try cursor.next(into: &batch) {",
                    "    for row in 0..<batch.count { rows.append(batch.columns.indices.map { batch[row, $0] }) }",
                    "}", "#expect(rows == \(expected))",
                ]
            case .refusal:
                let call = request.propertiesToFetch.isEmpty ? "keys" : "rows"
                return ["#expect(throws: StoreError.self) { try store.snapshot().\(call)(request) }"]
            }
        }
    }

    private let fixtures: [StoreFixture]
    private let salt: UInt64
    private let isRelated: Bool
    private let isRefused: Bool
    private let deadline = ContinuousClock.now + .seconds(40)

    /// Creates a shrinker for a failure of the last fixture.
    ///
    /// The first fixture gives the expected answer to an invalid request.
    init(on fixtures: [StoreFixture], salt: UInt64, isRelated: Bool, isRefused: Bool) {
        (self.fixtures, self.salt, self.isRelated, self.isRefused) = (fixtures, salt, isRelated, isRefused)
    }

    private var isOver: Bool { ContinuousClock.now >= deadline }

    /// Returns the smallest failure that was found.
    mutating func shrink(
        _ world: QueryWorld, request: RowRequest, expected: QueryLane.Answer, difference: QueryLane.Difference
    ) -> Failure {
        var best = Failure(
            store: fixtures.last?.name ?? "", world: world, request: request, difference: difference,
            answer: expected)
        var hasChanged = true
        while hasChanged, !isOver {
            hasChanged = false
            for candidate in best.request.simpler where !isOver {
                if let failure = failure(best.world, request: candidate, like: best.difference) {
                    (best, hasChanged) = (failure, true)
                    break
                }
            }
            if hasChanged { continue }
            for candidate in best.world.smaller where !isOver {
                if let failure = failure(candidate, request: best.request, like: best.difference) {
                    (best, hasChanged) = (failure, true)
                    break
                }
            }
        }
        best.original = request.predicate
        return best
    }

    /// Returns the failure of a request on a world if it is of the same kind as `other`.
    private func failure(
        _ world: QueryWorld, request: RowRequest, like other: QueryLane.Difference
    ) -> Failure? {
        var lanes: [QueryLane] = []
        defer { for lane in lanes { lane.close() } }
        var expected = QueryLane.Answer.keys([])
        do {
            for fixture in fixtures { lanes.append(try QueryLane(fixture, world: world)) }
            guard let first = lanes.first, let lane = lanes.last else { return nil }
            expected = isRefused ? try first.answer(request) : try QueryOracle(world).answer(request)
            try lane.compare(request, with: expected, inEveryWay: true)
            if isRelated { try lane.compareRelated(request, salt: salt) }
            return nil
        } catch let difference as QueryLane.Difference {
            guard difference.kind == other.kind else { return nil }
            return Failure(
                store: fixtures.last?.name ?? "", world: world, request: request, difference: difference,
                answer: expected)
        } catch {
            // A request that became invalid, for example by an unknown variable, proves nothing.
            return nil
        }
    }
}

extension QueryLane.Difference {
    /// The properties that must stay the same while a failure is shrunk.
    fileprivate var kind: [String] {
        // Keys may change, but an error must not. Otherwise, another invalid request could replace
        // the failing one.
        func cause(_ text: String) -> String { text.hasPrefix("[") ? "" : text }
        return [subject.filter { !$0.isNumber }, cause(expected), cause(actual)]
    }
}

extension QueryWorld {
    /// Worlds that lack some objects, links or values; the first worlds lack the most objects.
    fileprivate var smaller: [QueryWorld] {
        var result: [QueryWorld] = []
        func add(_ change: (inout QueryWorld) -> Void) {
            var copy = self
            change(&copy)
            let ids = Set(copy.objects.map { [model.entity($0.id.entity)?.root ?? -1, Int($0.id.key)] })
            copy.links.removeAll { named in
                guard let relationship = try? model.requireRelationship(named.relationship) else { return true }
                let source = [model.entities[relationship.source].root, Int(named.link.source)]
                let target = [model.entities[relationship.destination].root, Int(named.link.target)]
                return !ids.contains(source) || !ids.contains(target)
            }
            result.append(copy)
        }
        var size = objects.count
        while size > 0 {
            for start in stride(from: 0, to: objects.count, by: size) {
                add { $0.objects.removeSubrange(start..<min(start + size, objects.count)) }
            }
            size /= 2
        }
        if !links.isEmpty { add { $0.links = [] } }
        guard objects.count < 12 else { return result }
        for index in links.indices { add { $0.links.remove(at: index) } }
        for (index, object) in objects.enumerated() {
            if object.values.count > 2 { add { $0.objects[index].values = [:] } }
            for name in object.values.keys.sorted() { add { $0.objects[index].values[name] = nil } }
        }
        return result
    }
}
