internal import Foundation
internal import RoostCore

/// Leaves out operations, and then parts of the remaining ones, while a sequence still fails.
///
/// Every attempt runs on new stores. Shrinking ends when nothing more can be left out, or at the
/// deadline with the best result so far.
struct LockStepShrinker {
    struct Result {
        var operations: [LockStepOperation]
        var failure: LockStepReplay.Failure
    }

    private let fixture: StoreFixture
    private let deadline: ContinuousClock.Instant
    /// The kind of failure that a shorter sequence must show, so that shrinking keeps the same
    /// failure.
    private var kind: String?
    private var best = Result(
        operations: [],
        failure: .init(lane: 0, index: 0, failure: .init(check: "", store: "", expected: "", actual: "")))

    init(on fixture: StoreFixture, deadline: ContinuousClock.Instant) {
        (self.fixture, self.deadline) = (fixture, deadline)
    }

    private var isOver: Bool { ContinuousClock.now >= deadline }

    /// Returns the shortest failing sequence found, or the given one if it does not fail again on
    /// the failing store alone.
    mutating func shrink(_ operations: [LockStepOperation], failure: LockStepReplay.Failure) -> Result {
        best = Result(operations: operations, failure: failure)
        takeTheEnd(of: operations)
        guard kind != nil || accepts(operations) else { return best }
        var count: Int
        repeat {
            count = best.operations.count
            dropOperations()
            simplifyOperations()
        } while best.operations.count < count && !isOver
        useSmallKeys()
        return best
    }

    /// Returns whether the operations fail in the same way.
    ///
    /// If so, records the operations up to the failure as the best result.
    private mutating func accepts(_ operations: [LockStepOperation]) -> Bool {
        // Comparing everything finds a failure earlier, but is slow for a long sequence.
        let comparesAll = operations.count < 2000
        guard
            let failure = LockStepReplay.failure(of: operations, on: [fixture], comparingAll: comparesAll)
        else { return false }
        if let kind, kind != failure.kind { return false }
        kind = failure.kind
        best = Result(operations: Array(operations.prefix(failure.index + 1)), failure: failure)
        return true
    }

    /// Tries only the last operations of a long sequence, because most objects exist only briefly.
    private mutating func takeTheEnd(of operations: [LockStepOperation]) {
        // In a short sequence, all contents are compared after each write, so the same failure may
        // show as another kind. The first failure found here therefore sets the kind.
        var count = 50
        while count < operations.count, !isOver {
            if accepts(Array(operations.suffix(count))) { return }
            count *= 2
        }
    }

    /// Leaves out half, then quarters, and so on to single operations, from the end to the
    /// beginning.
    private mutating func dropOperations() {
        var size = max(1, best.operations.count / 2)
        while !isOver {
            var end = best.operations.count
            var hasDropped = false
            while end > 0, !isOver {
                let start = max(0, end - size)
                var shorter = best.operations
                shorter.removeSubrange(start..<end)
                if accepts(shorter) { hasDropped = true }
                end = min(start, best.operations.count)
            }
            if size == 1, !hasDropped { return }
            size = max(1, size / 2)
        }
    }

    private mutating func simplifyOperations() {
        var index = 0
        while index < best.operations.count {
            var isSimpler = false
            for candidate in best.operations[index].simpler where !isOver {
                var operations = best.operations
                operations[index] = candidate
                if accepts(operations) {
                    isSimpler = true
                    break
                }
            }
            if !isSimpler { index += 1 }
        }
    }

    /// Renumbers the objects of each hierarchy as 1, 2, 3 and so on, if the sequence still fails.
    private mutating func useSmallKeys() {
        guard case .success(let model) = ConformanceModel.standard else { return }
        var used: [Int: Set<Int64>] = [:]
        for operation in best.operations {
            _ = operation.withKeys(of: model) { root, key in
                used[root, default: []].insert(key)
                return key
            }
        }
        let small = used.mapValues { keys in
            Dictionary(uniqueKeysWithValues: keys.sorted().enumerated().map { ($1, Int64($0 + 1)) })
        }
        _ = accepts(best.operations.map { $0.withKeys(of: model) { root, key in small[root]?[key] ?? key } })
    }
}

extension LockStepReplay.Failure {
    /// The expectation up to its first number or value.
    fileprivate var kind: String { String(failure.expected.prefix { !"0123456789([:".contains($0) }) }
}

extension LockStepOperation {
    /// Slightly simpler operations, the simplest first.
    fileprivate var simpler: [LockStepOperation] {
        switch self {
        case .insert(let id, let values): values.simpler.map { .insert(id, $0) }
        case .update(let id, let values, let isStale): values.simpler.map { .update(id, $0, isStale: isStale) }
        case .link(let link, let name):
            [Link(link.source, link.target), Link(link.source, link.target, order: link.order)]
                .filter { $0 != link }.map { .link($0, name) }
        case .unlink(let link, let name):
            link == Link(link.source, link.target) ? [] : [.unlink(Link(link.source, link.target), name)]
        case .reserveKeys(let count, let entity): count > 1 ? [.reserveKeys(1, entity)] : []
        case .scan(let entity, let key): key == nil ? [] : [.scan(entity, after: nil)]
        case .read(let ids):
            ids.indices.map { index in
                .read(Array(ids[..<index] + ids[(index + 1)...]))
            }
        case .fetch(let request): RowRequest(request).simpler.map { .fetch($0.fetchRequest) }
        case .delete, .requireUnchanged, .requireExisting, .requireUnreferencedDeletes, .setMetadata, .commit, .load,
            .walk, .openSnapshot, .closeSnapshot, .reopen, .reopenReadOnly:
            []
        }
    }

    /// Returns the operation with other keys; `change` maps the number of the root entity and a key
    /// to the new key.
    fileprivate func withKeys(of model: ManagedObjectModel, _ change: (Int, Int64) -> Int64) -> LockStepOperation {
        func changed(_ id: ObjectID) -> ObjectID {
            ObjectID(id.entity, key: change(model.entity(id.entity)?.root ?? -1, id.key))
        }
        func changed(_ value: Value) -> Value {
            switch value {
            case .objectID(let id): .objectID(changed(id))
            case .composite(let elements): .composite(elements.mapValues { changed($0) })
            default: value
            }
        }
        func changed(_ link: Link, name: RelationshipName) -> Link {
            guard let relationship = try? model.requireRelationship(name) else { return link }
            var link = link
            link.source = change(model.entities[relationship.source].root, link.source)
            link.target = change(model.entities[relationship.destination].root, link.target)
            return link
        }
        switch self {
        case .insert(let id, let values): return .insert(changed(id), values.mapValues { changed($0) })
        case .update(let id, let values, let isStale):
            return .update(changed(id), values.mapValues { changed($0) }, isStale: isStale)
        case .delete(let id, let isStale): return .delete(changed(id), isStale: isStale)
        case .requireUnchanged(let id, let isStale): return .requireUnchanged(changed(id), isStale: isStale)
        case .requireExisting(let id): return .requireExisting(changed(id))
        case .link(let link, let name): return .link(changed(link, name: name), name)
        case .unlink(let link, let name): return .unlink(changed(link, name: name), name)
        case .scan(let entity, let key):
            return .scan(entity, after: key.map { change(model.entity(entity)?.root ?? -1, $0) })
        case .read(let ids): return .read(ids.map { changed($0) })
        case .walk(let name, let id): return .walk(name, changed(id))
        case .requireUnreferencedDeletes, .setMetadata, .commit, .load, .reserveKeys, .fetch, .openSnapshot,
            .closeSnapshot, .reopen, .reopenReadOnly:
            return self
        }
    }
}

extension [String: Value] {
    /// Copies that lack one value or all values, or have one simpler value.
    fileprivate var simpler: [[String: Value]] {
        let names = keys.sorted()
        var result: [[String: Value]] = names.count > 1 ? [[:]] : []
        for name in names {
            var shorter = self
            shorter[name] = nil
            result.append(shorter)
        }
        for name in names {
            for value in (self[name] ?? .null).simpler {
                var changed = self
                changed[name] = value
                result.append(changed)
            }
        }
        return result
    }
}

extension Value {
    /// Simpler values of the same kind; repeated simplification always ends.
    fileprivate var simpler: [Value] {
        switch self {
        case .int(let number): Self.simpler(isZero: number == 0, isOne: number == 1, zero: .int(0), one: .int(1))
        case .double(let number):
            Self.simpler(isZero: number.bitPattern == 0, isOne: number == 1, zero: .double(0), one: .double(1))
        case .decimal(let number):
            Self.simpler(isZero: number.isZero, isOne: number == 1, zero: .decimal(0), one: .decimal(1))
        case .date(let date):
            Self.simpler(
                isZero:
                    date.timeIntervalSinceReferenceDate.bitPattern == 0,
                isOne: date.timeIntervalSinceReferenceDate == 1,
                zero: .date(Date(timeIntervalSinceReferenceDate: 0)),
                one: .date(Date(timeIntervalSinceReferenceDate: 1)))
        case .string(let text): Self.shorter(text).map { .string($0) }
        case .uri(let text): Self.shorter(text).map { .uri($0) }
        case .data(let data):
            data.isEmpty ? [] : [.data(Data()), .data(Data(data.prefix(data.count / 2)))]
        case .composite(let elements): elements.simpler.map { .composite($0) }
        case .null, .bool, .uuid, .objectID: []
        }
    }

    private static func simpler(isZero: Bool, isOne: Bool, zero: Value, one: Value) -> [Value] {
        isZero ? [] : (isOne ? [zero] : [zero, one])
    }

    private static func shorter(_ text: String) -> [String] {
        let scalars = Array(text.unicodeScalars)
        func joined(_ part: some Sequence<Unicode.Scalar>) -> String {
            var result = String.UnicodeScalarView()
            result.append(contentsOf: part)
            return String(result)
        }
        guard scalars.count > 8 else {
            return scalars.indices.map { index in joined(scalars[..<index] + scalars[(index + 1)...]) }
        }
        return [
            joined(scalars.prefix(scalars.count / 2)), joined(scalars.suffix(scalars.count / 2)),
            joined(scalars.dropLast()), joined(scalars.dropFirst()),
        ]
    }
}
