internal import RoostCore

/// The source of a column's value for a record.
enum RowSource: Sendable {
    /// The object itself.
    case object
    /// A field of the record, or of a record at the end of to-one relationships.
    case path(RowPath)
    /// Any other expression.
    case expression(PredicateProgram.Index, PredicateType.Kind)
}

/// A path through to-one relationships to a field.
struct RowPath: Sendable {
    struct Step: Sendable {
        /// The slots of the relationship's reference, by entity number.
        let slots: PlainArray<FieldSlot?>
        /// The root entity of the destination's hierarchy.
        let root: Int
    }

    let steps: [Step]
    /// The field at the end of the path, by the number of the entity that contains the field.
    let fields: [RecordLayout.Field?]
    let slots: PlainArray<FieldSlot?>
    let kind: RecordLayout.Field.Kind

    /// Creates a path; nil if it passes through a to-many relationship, has an operator, or ends at
    /// objects.
    init?(_ path: ResolvedPath, model: ManagedObjectModel) {
        guard path.collectionOperator == nil, path.relationships.allSatisfy({ !$0.isToMany }),
            case .field(let field) = path.end
        else { return nil }
        steps = path.relationships.map { relationship in
            Step(
                slots: PlainArray(
                    FieldSlot.all(relationship.name.name, of: model.entities[relationship.source], in: model)),
                root: model.entities[relationship.destination].root)
        }
        let end = model.entities[path.entity]
        fields = model.entities.map { end.includes($0.number) ? $0.layout.field(field.name) : nil }
        slots = PlainArray(FieldSlot.all(field.name, of: end, in: model))
        kind = field.kind
    }

    /// Runs `body` with the record that contains the field; nil if a relationship has no object.
    @inline(__always)
    func withEnd<Result>(
        of record: RecordReader, evaluator: PredicateEvaluator, _ body: (RecordReader) -> Result
    ) -> Result? {
        guard !steps.isEmpty else { return body(record) }
        var current = record
        for step in steps {
            guard let slot = step.slots[current.entityNumber], !slot.isNull(in: current),
                let next = evaluator.relatedRecord(slot.integer(in: current), inHierarchyOf: step.root)
            else { return nil }
            current = next
        }
        return body(current)
    }
}

extension RowPath {
    /// Reads the objects along the paths of all records in few calls.
    ///
    /// Ignores errors, because they occur again when the path is followed from each record.
    func prefetch(for records: RecordBatch, evaluator: PredicateEvaluator) {
        var keys: [Int64] = []
        for (index, step) in steps.enumerated() {
            var next: [Int64] = []
            func follow(_ record: RecordReader) {
                guard let slot = step.slots[record.entityNumber], !slot.isNull(in: record) else { return }
                next.append(slot.integer(in: record))
            }
            if index == 0 {
                records.forEachRecord { follow($0) }
            } else {
                let root = steps[index - 1].root
                for key in keys {
                    if let record = evaluator.loadedRecord(key, inHierarchyOf: root) { follow(record) }
                }
            }
            next.sort()
            guard evaluator.loadQuietly(next, inHierarchyOf: step.root) else { return }
            keys = next
        }
    }
}

extension FieldSlot {
    /// Returns the slots of the field with the given name, by entity number; nil for entities other
    /// than `entity` and its subentities.
    static func all(
        _ name: String, of entity: ManagedObjectModel.Entity, in model: ManagedObjectModel
    ) -> [FieldSlot?] {
        model.entities.map { member in
            guard entity.includes(member.number), let field = member.layout.field(name) else { return nil }
            return FieldSlot(field, in: member.layout)
        }
    }
}

extension RowSource {
    func prefetch(for records: RecordBatch, evaluator: PredicateEvaluator) {
        if case .path(let path) = self { path.prefetch(for: records, evaluator: evaluator) }
    }

    /// Returns the value for `record`, which must be the evaluator's current record.
    ///
    /// After an error, which the evaluator stores, the value is undefined.
    func value(of record: RecordReader, evaluator: PredicateEvaluator) -> Value {
        switch self {
        case .object: return .objectID(record.id)
        case .path(let path):
            let value: Value? = path.withEnd(of: record, evaluator: evaluator) { end in
                path.fields[end.entityNumber].map { end.value($0) } ?? .null
            }
            return value ?? .null
        case .expression(let node, let kind): return evaluator.decoded(evaluator.value(node), kind: kind)
        }
    }

    /// Returns the value, whose bytes are valid until the evaluator begins the next record.
    func operand(of record: RecordReader, evaluator: PredicateEvaluator) -> PredicateOperand {
        switch self {
        case .object: return .object(root: record.model.entities[record.entityNumber].root, key: record.key)
        case .path(let path):
            let operand: PredicateOperand? = path.withEnd(of: record, evaluator: evaluator) { end in
                guard let slot = path.slots[end.entityNumber] else { return .null }
                let root = path.fields[end.entityNumber]?.destination.map { end.model.entities[$0].root } ?? -1
                return PredicateOperand(end, slot: slot, destinationRoot: root)
            }
            return operand ?? .null
        case .expression(let node, _): return evaluator.value(node)
        }
    }

    /// Appends the value to a grouping key, as bytes that are the same for equal values.
    func append(of record: RecordReader, evaluator: PredicateEvaluator, to key: inout [UInt8]) {
        // A composite is appended as a value, because its operand does not contain the elements.
        if type == .composite {
            return OrderedBytes.append(
                value(of: record, evaluator: evaluator), options: [], model: record.model, to: &key)
        }
        switch self {
        case .path(let path):
            let isFound: Bool? = path.withEnd(of: record, evaluator: evaluator) { end in
                guard let slot = path.slots[end.entityNumber] else { return false }
                OrderedBytes.append(slot, of: end, options: [], to: &key)
                return true
            }
            if isFound != true { key.append(0) }
        case .object, .expression: OrderedBytes.append(operand(of: record, evaluator: evaluator), options: [], to: &key)
        }
    }

    /// The path, if its field is in the record itself.
    var localPath: RowPath? {
        if case .path(let path) = self, path.steps.isEmpty { return path }
        return nil
    }
}

extension RowSource {
    /// The type of the values; nil if they can have different types.
    var type: AttributeType? {
        switch self {
        case .object: .objectID
        case .path(let path): AttributeType(path.kind)
        case .expression(_, let kind): AttributeType(kind)
        }
    }
}

extension AttributeType {
    init(_ kind: RecordLayout.Field.Kind) {
        switch kind {
        case .decimal: self = .decimal
        case .uuid: self = .uuid
        case .objectID, .polymorphicReference, .reference: self = .objectID
        case .order, .integer64: self = .integer64
        case .double: self = .double
        case .date: self = .date
        case .integer32: self = .integer32
        case .float: self = .float
        case .integer16: self = .integer16
        case .boolean: self = .boolean
        case .composite: self = .composite
        case .string: self = .string
        case .uri: self = .uri
        case .data: self = .binaryData
        case .transformable: self = .transformable
        }
    }

    /// Creates the type of an expression's values; nil if the type depends on the values.
    init?(_ kind: PredicateType.Kind) {
        switch kind {
        case .null, .number: return nil
        case .boolean: self = .boolean
        case .integer: self = .integer64
        case .double: self = .double
        case .decimal: self = .decimal
        case .string: self = .string
        case .uri: self = .uri
        case .data: self = .binaryData
        case .transformable: self = .transformable
        case .date: self = .date
        case .uuid: self = .uuid
        case .object: self = .objectID
        case .composite: self = .composite
        }
    }
}
