internal import RoostCore

/// A comparison that walks two snapshots with compatible models in key order.
struct ContentMerge {
    private let left: any StoreSnapshot
    private let right: any StoreSnapshot
    private let model: ManagedObjectModel
    private let limit: Int
    private let cancellation: ConversionCancellation?
    private(set) var differences: [StoreDifference] = []

    init(_ left: any StoreSnapshot, right: any StoreSnapshot, limit: Int, cancellation: ConversionCancellation?) {
        self.left = left
        self.right = right
        model = left.model
        self.limit = limit
        self.cancellation = cancellation
    }

    mutating func run() throws(StoreError) {
        for root in model.roots where differences.count < limit { try mergeRecords(of: model.entities[root].name) }
        for relationship in model.linkRelationships where differences.count < limit { try mergeLinks(of: relationship) }
    }

    // MARK: Objects

    private mutating func mergeRecords(of root: EntityName) throws(StoreError) {
        var a = RecordPosition(try left.records(of: root, after: nil), model: left.model)
        var b = RecordPosition(try right.records(of: root, after: nil), model: right.model)
        while differences.count < limit {
            if a.isAtBatchEnd { try cancellation?.check() }
            switch (try a.key(), try b.key()) {
            case (nil, nil): return
            case (let x?, let y?) where x == y:
                if let properties = Self.differentProperties(a, b) {
                    differences.append(
                        StoreDifference(kind: .changed, object: a.id.description, properties: properties, target: nil))
                }
                a.advance()
                b.advance()
            case (let x?, let y) where y.map({ x < $0 }) ?? true:
                differences.append(
                    StoreDifference(kind: .onlyInFirst, object: a.id.description, properties: [], target: nil))
                a.advance()
            default:
                differences.append(
                    StoreDifference(kind: .onlyInSecond, object: b.id.description, properties: [], target: nil))
                b.advance()
            }
        }
    }

    /// Returns the names of the fields that differ, or nil if the records are equal apart from
    /// versions.
    ///
    /// Returns `(entity)` if the entities differ, and `(unused bytes)` if only bytes outside of the
    /// fields differ.
    private static func differentProperties(_ a: RecordPosition, _ b: RecordPosition) -> [String]? {
        a.batch.withRecord(at: a.index) { left in
            b.batch.withRecord(at: b.index) { right in
                if left.hasSameContent(as: right) { return nil }
                guard left.entityNumber == right.entityNumber else { return ["(entity)"] }
                let fields = left.layout.fields.filter {
                    left.isNull($0) != right.isNull($0) || !left.bytes($0).hasSameBytes(as: right.bytes($0))
                }
                return fields.isEmpty ? ["(unused bytes)"] : fields.map(\.name).sorted()
            }
        }
    }

    // MARK: Links

    private mutating func mergeLinks(of relationship: ManagedObjectModel.Relationship) throws(StoreError) {
        var a = LinkPosition(try left.links(of: relationship.name, after: nil), relationship: relationship.number)
        var b = LinkPosition(try right.links(of: relationship.name, after: nil), relationship: relationship.number)
        while differences.count < limit {
            if a.isAtBatchEnd { try cancellation?.check() }
            switch (try a.link(), try b.link()) {
            case (nil, nil): return
            case (let x?, let y?) where x == y:
                a.advance()
                b.advance()
            case (let x?, let y) where y.map({ Self.precedes(x, $0) }) ?? true:
                differences.append(difference(.linkOnlyInFirst, link: x, relationship: relationship))
                a.advance()
            case (_, let y?):
                differences.append(difference(.linkOnlyInSecond, link: y, relationship: relationship))
                b.advance()
            default: return
            }
        }
    }

    private func difference(
        _ kind: StoreDifference.Kind, link: Link, relationship: ManagedObjectModel.Relationship
    ) -> StoreDifference {
        StoreDifference(
            kind: kind, object: ObjectID(model.entities[relationship.source].name, key: link.source).description,
            properties: [relationship.name.description],
            target: ObjectID(model.entities[relationship.destination].name, key: link.target).description)
    }

    /// Returns whether a link precedes another in a cursor's order.
    private static func precedes(_ a: Link, _ b: Link) -> Bool {
        (a.source, a.order, a.target, a.inverseOrder) < (b.source, b.order, b.target, b.inverseOrder)
    }
}

private struct RecordPosition {
    private let cursor: any RecordCursor
    private(set) var batch: RecordBatch
    private(set) var index = 0

    init(_ cursor: any RecordCursor, model: ManagedObjectModel) {
        self.cursor = cursor
        batch = RecordBatch(model: model)
    }

    var isAtBatchEnd: Bool { index >= batch.count }
    var id: ObjectID { batch.id(at: index) }

    mutating func key() throws(StoreError) -> Int64? {
        while index >= batch.count {
            guard try cursor.next(into: &batch) else { return nil }
            index = 0
        }
        return batch.key(at: index)
    }

    mutating func advance() { index += 1 }
}

private struct LinkPosition {
    private let cursor: any LinkCursor
    private var batch: LinkBatch
    private var index = 0

    init(_ cursor: any LinkCursor, relationship: Int) {
        self.cursor = cursor
        batch = LinkBatch(relationship: relationship)
    }

    var isAtBatchEnd: Bool { index >= batch.count }

    mutating func link() throws(StoreError) -> Link? {
        while index >= batch.count {
            guard try cursor.next(into: &batch) else { return nil }
            index = 0
        }
        return batch.links[index]
    }

    mutating func advance() { index += 1 }
}
