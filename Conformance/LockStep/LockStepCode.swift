internal import Foundation
internal import RoostCore

/// Tells a sequence of operations as the body of a Swift test, which has a `fixture` and imports RoostConformance, RoostCore and Foundation.
struct LockStepCode {
    private var model: LockStepModel
    private var lines: [String] = []
    private var hasDeclaredChanges = false
    private var hasChanges = false
    private var snapshotCount = 0
    private var snapshots: [Int: String] = [:]
    private var reservations: [Int: [String]] = [:]
    /// What the operations touch: only that is worth looking at in the end.
    private var roots: Set<Int> = []
    private var relationships: Set<Int> = []
    private var usesMetadata = false

    /// The code, without indentation; what it expects is what the plain model holds.
    static func text(_ operations: [LockStepOperation]) -> String {
        guard case .success(let model) = ConformanceModel.standard else { return "" }
        var code = LockStepCode(model: LockStepModel(model))
        let reopens = operations.contains { $0 == .reopen || $0 == .reopenReadOnly }
        code.lines = [
            "let bench = try Workbench(fixture)", "defer { bench.discard() }",
            "\(reopens ? "var" : "let") store = try bench.create()",
        ]
        for (index, operation) in operations.enumerated() {
            // An operation that does not fit the model was the failure; there is nothing to tell about it.
            guard let step = try? code.model.step(operation) else { break }
            code.add(step, isLast: index == operations.count - 1)
        }
        return code.lines.joined(separator: "\n")
    }

    private var reference: ReferenceStore { model.reference }

    private mutating func add(_ step: LockStepStep, isLast: Bool) {
        switch step {
        case .nothing: break
        case .change(let operation, let version): addChange(operation, version)
        case .commit(_, let refusal, let changesAnything):
            addCommit(refusal, changesAnything: changesAnything, isLast: isLast)
            hasChanges = false
            if isLast { addContents(reference.contents, reference.digest, of: "store") }
        case .load(let changes, let refusal, let finishes):
            addLoad(changes, refusal, finishes)
            hasChanges = false
            if isLast { addContents(reference.contents, reference.digest, of: "store") }
        case .reserveKeys(let count, let entity): addReservation(count, entity)
        case .scan(let entity, let key, let objects):
            let after = key.map { ", after: \(Self.code(ObjectID(entity, $0)))" } ?? ""
            addObjects("try store.snapshot().objects(of: \(Self.code(entity))\(after))", objects)
        case .read(let ids, let objects):
            addObjects("try store.snapshot().objects(with: \(Self.list(ids.map { Self.code($0) })))", objects)
        case .walk(let name, let id, let targets):
            lines.append(
                "#expect(try store.snapshot().targets(of: \(Self.code(name)), from: \(Self.code(id))) == \(targets))")
        case .fetch(let request, let keys):
            lines.append("#expect(try store.snapshot().keys(\(Self.code(request))) == \(keys))")
            lines.append("#expect(try store.snapshot().count(\(Self.code(request))) == \(keys.count))")
        case .openSnapshot(let number):
            snapshotCount += 1
            snapshots[number] = "snapshot\(snapshotCount)"
            lines.append("let snapshot\(snapshotCount) = try store.snapshot()")
        case .closeSnapshot(let number, let contents):
            guard let name = snapshots.removeValue(forKey: number) else { return }
            addContents(contents, nil, of: name)
            lines.append("\(name).close()")
        case .reopen:
            closeSnapshots()
            lines.append("store = try bench.reopen(store)")
            if isLast { addContents(reference.contents, nil, of: "store") }
        case .reopenReadOnly:
            closeSnapshots()
            lines += [
                "try store.close()", "store = try bench.open { $0.isReadOnly = true }",
                "do {", "    var forbidden = ChangeSet(model: store.model)",
                "    forbidden.userMetadata[\"written\"] = .bool(true)",
                "    #expect(throws: StoreError.self) { try store.commit(forbidden) }", "}",
            ]
            if isLast { addContents(reference.contents, nil, of: "store") }
            lines += ["try store.close()", "store = try bench.open()"]
        }
    }

    private mutating func closeSnapshots() {
        for name in snapshots.values.sorted() { lines.append("\(name).close()") }
        snapshots = [:]
    }

    // MARK: Changes

    private mutating func addChange(_ operation: LockStepOperation, _ version: UInt32) {
        if !hasChanges {
            lines.append("\(hasDeclaredChanges ? "" : "var ")changes = ChangeSet(model: store.model)")
            (hasChanges, hasDeclaredChanges) = (true, true)
        }
        switch operation {
        case .insert(let id, let values):
            touch(id)
            lines.append("try changes.insert(\(Self.code(id)), values: \(Self.code(values)))")
        case .update(let id, let values, _):
            touch(id)
            lines.append("try changes.update(\(Self.code(id)), version: \(version), values: \(Self.code(values)))")
        case .delete(let id, _):
            touch(id)
            lines.append("changes.delete(\(Self.code(id)), version: \(version))")
        case .requireUnchanged(let id, _):
            touch(id)
            lines.append("changes.unchanged.append(.init(\(Self.code(id)), version: \(version)))")
        case .link(let link, let name):
            touch(name)
            lines.append("try changes.add(\(Self.code(link)), to: \(Self.code(name)))")
        case .unlink(let link, let name):
            touch(name)
            lines.append("try changes.remove(\(Self.code(link)), from: \(Self.code(name)))")
        case .setMetadata(let key, let value):
            usesMetadata = true
            lines.append(
                "changes.userMetadata[\(Self.code(key))] = .some(\(value.map { Self.code($0) } ?? "nil"))")
        default: break
        }
    }

    private mutating func touch(_ id: ObjectID) {
        if let entity = reference.model.entity(id.entity) { roots.insert(entity.root) }
    }

    private mutating func touch(_ name: RelationshipName) {
        if let owner = try? reference.model.requireLinkRelationship(name).owner { relationships.insert(owner) }
    }

    private mutating func addCommit(_ refusal: ReferenceStore.Refusal?, changesAnything: Bool, isLast: Bool) {
        let commit = "try store.commit(\(hasChanges ? "changes" : "ChangeSet(model: store.model)"))"
        guard let refusal else {
            guard isLast else { return lines.append("_ = \(commit)") }
            lines.append("let generation = try store.snapshot().recordedTally()?.generation ?? 0")
            lines.append("let receipt = \(commit)")
            return lines.append("#expect(receipt.generation == generation\(changesAnything ? " + 1" : ""))")
        }
        guard isLast else { return lines.append("#expect(throws: StoreError.self) { \(commit) }") }
        lines.append("let error = #expect(throws: StoreError.self) { \(commit) }")
        let codes = refusal.codes.map(\.description).sorted().map { "StoreError.Code(\(Self.code($0)))" }
        lines.append("#expect(error.map { \(Self.list(codes)).contains($0.code) } == true)")
        if refusal.codes == [.conflict] {
            let ids = refusal.conflicts.sorted { ($0.entity, $0.key) < ($1.entity, $1.key) }.map { Self.code($0) }
            lines.append("#expect(Set(error?.conflicts.map(\\.id) ?? []) == \(Self.list(ids)))")
        }
    }

    private mutating func addLoad(_ changes: ChangeSet, _ refusal: ReferenceStore.Refusal?, _ finishes: Bool) {
        var calls = ["try loader.append(changes.inserts)"]
        if !hasChanges { calls = [] }
        for batch in changes.addedLinks {
            let name = Self.code(reference.model.relationships[batch.relationship].name)
            calls.append("let number = try store.model.requireLinkRelationship(\(name)).owner")
            calls.append(
                "try loader.append(LinkBatch(relationship: number, links: \(Self.list(batch.links.map { Self.code($0) }))))"
            )
        }
        calls.append(finishes ? "_ = try loader.finish()" : "loader.abandon()")
        lines += ["do {", "    let loader = try store.bulkLoader(BulkLoadOptions())"]
        if refusal == nil || !finishes {
            lines += calls.map { "    \($0)" }
        } else {
            lines += ["    #expect(throws: StoreError.self) {"] + calls.map { "        \($0)" }
            lines += ["    }", "    loader.abandon()"]
        }
        lines.append("}")
    }

    private mutating func addReservation(_ count: Int, _ entity: EntityName) {
        let root = reference.model.entity(entity)?.root ?? -1
        let names = reservations[root] ?? []
        let name = "keys\(reservations.values.reduce(1) { $0 + $1.count })"
        lines.append("let \(name) = try store.reserveKeys(\(count), for: \(Self.code(entity)))")
        let above = names.last.map { " && \(name).lowerBound >= \($0).upperBound" } ?? ""
        lines.append(
            "#expect(\(name).count == \(count) && \(name).lowerBound > \(reference.lastKeys[root] ?? 0)\(above))")
        reservations[root] = names + [name]
    }

    // MARK: Expectations

    private mutating func addObjects(_ objects: String, _ expected: [StoredObject]) {
        lines.append("#expect(\(objects).map(\\.id) == \(Self.list(expected.map { Self.code($0.id) })))")
        lines.append("#expect(\(objects).map(\\.values) == \(Self.list(expected.map { Self.code($0.values) })))")
    }

    /// What a store or a snapshot must hold, as far as the operations touched it.
    private mutating func addContents(_ contents: StoreContents, _ digest: StoreDigest?, of name: String) {
        let snapshot = name == "store" ? "store.snapshot()" : name
        for root in roots.sorted() {
            let (entity, expected) = (reference.model.entities[root].name, contents.objects[root] ?? [])
            let objects = "try \(snapshot).objects(of: \(Self.code(entity)))"
            lines.append("#expect(\(objects).map(\\.id) == \(Self.list(expected.map { Self.code($0.id) })))")
            lines.append("#expect(\(objects).map(\\.version) == \(expected.map(\.version)))")
            lines.append("#expect(\(objects).map(\\.values) == \(Self.list(expected.map { Self.code($0.values) })))")
        }
        for number in relationships.sorted() {
            let relationship = Self.code(reference.model.relationships[number].name)
            let links = Self.list((contents.links[number] ?? []).map { Self.code($0) })
            lines.append("#expect(try \(snapshot).allLinks(of: \(relationship)) == \(links))")
        }
        if usesMetadata {
            let values = contents.userMetadata.sorted { $0.key < $1.key }.map {
                "\(Self.code($0.key)): \(Self.code($0.value))"
            }
            lines.append(
                "#expect(try \(snapshot).userMetadata() == \(values.isEmpty ? "[:]" : Self.list(values)))")
        }
        if let digest {
            lines.append(
                "#expect(try \(snapshot).recordedTally()?.digest.description == \(Self.code("\(digest)")))")
        }
    }

    // MARK: Values

    private static func list(_ parts: [String]) -> String { "[\(parts.joined(separator: ", "))]" }

    /// A string literal in ASCII, so that no editor and no normal form can change it.
    private static func code(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": result += "\\\(scalar)"
            case " "..."~": result.unicodeScalars.append(scalar)
            default: result += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            }
        }
        return result + "\""
    }

    private static func code(_ name: EntityName) -> String { code(name.text) }
    private static func code(_ id: ObjectID) -> String { "ObjectID(\(code(id.entity)), \(id.key))" }
    private static func code(_ name: RelationshipName) -> String {
        "RelationshipName(\(code(name.entity)), \(code(name.name)))"
    }

    private static func code(_ link: Link) -> String {
        let order = link.order == 0 ? "" : ", order: \(link.order)"
        let inverseOrder = link.inverseOrder == 0 ? "" : ", inverseOrder: \(link.inverseOrder)"
        return "Link(\(link.source), \(link.target)\(order)\(inverseOrder))"
    }

    private static func code(_ values: [String: Value]) -> String {
        guard !values.isEmpty else { return "[:]" }
        return list(values.sorted { $0.key < $1.key }.map { "\(code($0.key)): \(code($0.value))" })
    }

    private static func code(_ number: Double) -> String {
        if number.isNaN { return "Double(bitPattern: 0x\(String(number.bitPattern, radix: 16)))" }
        if number.isInfinite { return number > 0 ? ".infinity" : "-.infinity" }
        return "\(number)"
    }

    private static func code(_ data: Data) -> String {
        data.isEmpty ? "Data()" : "Data(\([UInt8](data)))"
    }

    private static func code(_ value: Value) -> String {
        switch value {
        case .null: return ".null"
        case .bool(let flag): return ".bool(\(flag))"
        case .int(let number): return ".int(\(number))"
        case .double(let number): return ".double(\(code(number)))"
        case .decimal(let decimal):
            guard let number = DecimalNumber(decimal), !number.isNaN else { return ".decimal(.nan)" }
            if number.exponent == 0, number.mantissa < 1 << 53 {
                return ".decimal(\(number.isNegative ? "-" : "")\(number.mantissa))"
            }
            return
                ".decimal((DecimalNumber(isNegative: \(number.isNegative), mantissa: \(number.mantissa), exponent: \(number.exponent)) ?? .nan).decimal)"
        case .string(let text): return ".string(\(code(text)))"
        case .uri(let text): return ".uri(\(code(text)))"
        case .data(let data): return ".data(\(code(data)))"
        case .date(let date):
            return ".date(Date(timeIntervalSinceReferenceDate: \(code(date.timeIntervalSinceReferenceDate))))"
        case .uuid(let uuid):
            let u = uuid.uuid
            let bytes = [u.0, u.1, u.2, u.3, u.4, u.5, u.6, u.7, u.8, u.9, u.10, u.11, u.12, u.13, u.14, u.15]
            return ".uuid(UUID(uuid: (\(bytes.map { "\($0)" }.joined(separator: ", ")))))"
        case .objectID(let id): return ".objectID(\(code(id)))"
        case .composite(let elements): return ".composite(\(code(elements)))"
        }
    }

    private static func code(_ value: MetadataValue) -> String {
        switch value {
        case .string(let text): ".string(\(code(text)))"
        case .int(let number): ".int(\(number))"
        case .double(let number): ".double(\(code(number)))"
        case .bool(let flag): ".bool(\(flag))"
        case .date(let date):
            ".date(Date(timeIntervalSinceReferenceDate: \(code(date.timeIntervalSinceReferenceDate))))"
        case .data(let data): ".data(\(code(data)))"
        case .array(let values): ".array(\(list(values.map { code($0) })))"
        case .dictionary(let values):
            values.isEmpty
                ? ".dictionary([:])"
                : ".dictionary(\(list(values.sorted { $0.key < $1.key }.map { "\(code($0.key)): \(code($0.value))" })))"
        }
    }

    private static func code(_ request: FetchRequest) -> String {
        var parts = [code(request.entity)]
        if let predicate = request.predicate { parts.append("where: \(code(predicate))") }
        if !request.sortDescriptors.isEmpty {
            let order = request.sortDescriptors.map {
                ".init(\(code($0.key))\($0.isAscending ? "" : ", ascending: false"))"
            }
            parts.append("sortedBy: \(list(order))")
        }
        if let limit = request.fetchLimit { parts.append("limit: \(limit)") }
        if request.fetchOffset != 0 { parts.append("offset: \(request.fetchOffset)") }
        if !request.includesSubentities { parts.append("includesSubentities: false") }
        return "FetchRequest(\(parts.joined(separator: ", ")))"
    }

    private static func code(_ predicate: FetchRequest.Predicate) -> String {
        switch predicate {
        case .constant(let truth): ".constant(\(truth))"
        case .and(let members): ".and(\(list(members.map { code($0) })))"
        case .or(let members): ".or(\(list(members.map { code($0) })))"
        case .not(let member): ".not(\(code(member)))"
        case .comparison(let comparison):
            ".comparison(.init(\(code(comparison.left)), .\(comparison.operator.rawValue), \(code(comparison.right))))"
        }
    }

    private static func code(_ expression: FetchRequest.Expression) -> String {
        switch expression {
        case .constant(let value): ".constant(\(code(value)))"
        case .keyPath(let path): ".keyPath(\(list(path.map { code($0) })))"
        case .evaluatedObject: ".evaluatedObject"
        case .aggregate(let members): ".aggregate(\(list(members.map { code($0) })))"
        default: "\(expression)"
        }
    }
}
