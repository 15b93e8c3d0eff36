internal import Foundation
internal import RoostCore

extension PredicateEvaluator {
    /// Returns the value of an expression with a single value; undefined after an error.
    ///
    /// The value's bytes are valid until the next call of ``begin(_:)``.
    func value(_ index: PredicateProgram.Index) -> PredicateOperand {
        switch program.nodes[index] {
        case .constant(let operand): return operand
        case .evaluatedObject: return record.map { object($0) } ?? .null
        case .variable(let slot): return variables[slot]
        case .field(let slots): return record.map { program.operand(slots, in: $0) } ?? .null
        case .path(let path): return value(of: program.paths[path])
        case .call(let function, let arguments): return call(function, arguments: arguments)
        case .registered(let call, let arguments): return registered(program.functions[call], arguments: arguments)
        case .cast(let type, let kind, let value): return cast(self.value(value), kind: kind, to: type)
        case .conditional(let condition, let whenTrue, let whenFalse):
            return isTrue(condition) ? value(whenTrue) : value(whenFalse)
        case .first(let collection):
            var first = PredicateOperand.null
            _ = forEach(collection, repetition: .everyWay) { element in
                first = element
                return false
            }
            return first
        case .last(let collection):
            var last = PredicateOperand.null
            _ = forEach(collection, repetition: .everyWay) { element in
                last = element
                return true
            }
            return last
        case .size(let collection):
            var count: Int64 = 0
            _ = forEach(collection, repetition: .everyWay) { _ in
                count += 1
                return true
            }
            return .integer(count)
        case .element(let collection, let position): return element(of: collection, at: value(position))
        default: return .null
        }
    }

    private func object(_ record: RecordReader) -> PredicateOperand {
        .object(root: record.root, key: record.key)
    }

    private func element(of collection: PredicateProgram.Index, at position: PredicateOperand) -> PredicateOperand {
        guard var rest = position.exactInteger, rest >= 0 else { return .null }
        var found = PredicateOperand.null
        _ = forEach(collection, repetition: .everyWay) { element in
            if rest == 0 { found = element }
            rest -= 1
            return rest >= 0
        }
        return found
    }

    // MARK: Collections

    /// Calls `body` with each value of an expression; returns false as soon as `body` does, or
    /// after an error.
    func forEach(
        _ index: PredicateProgram.Index, repetition: Repetition, _ body: (PredicateOperand) -> Bool
    ) -> Bool {
        switch program.nodes[index] {
        case .path(let path): return forEach(program.paths[path], repetition: repetition, body)
        case .list(let members):
            for position in members.start..<members.start + members.count
            where !body(value(program.links[position])) || hasFailed { return false }
            return true
        case .subquery(let collection, let variable, let condition):
            return forEach(collection, repetition: repetition) { element in
                variables[variable] = element
                guard isTrue(condition) else { return !hasFailed }
                return body(element)
            }
        case .setOperation(let operation, let left, let right):
            return forEach(operation, left: left, right: right, body)
        default: return body(value(index)) && !hasFailed
        }
    }

    private func forEach(
        _ operation: FetchRequest.SetOperation, left: PredicateProgram.Index, right: PredicateProgram.Index,
        _ body: (PredicateOperand) -> Bool
    ) -> Bool {
        var others = DistinctOperands()
        var given = DistinctOperands()
        if operation != .union {
            guard
                forEach(
                    right, repetition: .once,
                    {
                        others.insert($0); return true
                    })
            else { return false }
        }
        guard
            forEach(
                left, repetition: .once,
                { element in
                    let isWanted = operation == .union || others.contains(element) == (operation == .intersect)
                    return !isWanted || !given.insert(element) || body(element)
                })
        else { return false }
        guard operation == .union else { return true }
        return forEach(right, repetition: .once) { element in !given.insert(element) || body(element) }
    }

    // MARK: Functions

    private func call(_ function: FetchRequest.Function, arguments: PredicateProgram.Range) -> PredicateOperand {
        let first = program.links[arguments.start]
        guard !function.isOfMany else { return aggregate(function, collection: first) }
        let left = value(first)
        switch function {
        case .uppercase: return text(left) { $0.uppercased() }
        case .lowercase: return text(left) { $0.lowercased() }
        case .canonical:
            return text(left) { TextFolding.folded($0, by: [.caseInsensitive, .diacriticInsensitive]) }
        case .length:
            guard case .bytes(let bytes) = left else { return .null }
            // Every code point has exactly one byte that is not a continuation byte.
            return .integer(Int64(bytes.reduce(0) { $0 + ($1 & 0xC0 == 0x80 ? 0 : 1) }))
        default:
            return PredicateArithmetic.value(
                of: function, left: left, right: arguments.count > 1 ? value(program.links[arguments.start + 1]) : left)
        }
    }

    private func text(_ operand: PredicateOperand, _ body: (String) -> String) -> PredicateOperand {
        guard case .bytes(let bytes) = operand else { return .null }
        return .bytes(memory.copy(body(String(decoding: bytes, as: UTF8.self))))
    }

    private func aggregate(
        _ function: FetchRequest.Function, collection: PredicateProgram.Index
    ) -> PredicateOperand {
        var accumulator = PredicateAccumulator()
        switch function {
        case .minimum, .maximum:
            _ = forEach(collection, repetition: .once) { element in
                accumulator.compare(element)
                return true
            }
            return function == .minimum ? accumulator.least : accumulator.greatest
        case .median, .mode, .standardDeviation:
            var values: [PredicateOperand] = []
            _ = forEach(collection, repetition: .everyWay) { element in
                if case .null = element { return true }
                values.append(element)
                return true
            }
            switch function {
            case .median: return PredicateStatistics.median(&values)
            case .mode: return PredicateStatistics.mode(&values)
            default: return PredicateStatistics.standardDeviation(values)
            }
        default:
            _ = forEach(collection, repetition: .everyWay) { element in
                accumulator.add(element)
                return true
            }
            switch function {
            case .sum: return accumulator.sum
            case .average: return accumulator.average
            default: return .integer(Int64(accumulator.count))
            }
        }
    }

    private func registered(_ call: PredicateProgram.Call, arguments: PredicateProgram.Range) -> PredicateOperand {
        var values: [Value] = []
        for (offset, kind) in call.argumentKinds.enumerated() {
            values.append(decoded(value(program.links[arguments.start + offset]), kind: kind))
        }
        guard !hasFailed else { return .null }
        do throws(StoreError) {
            return encoded(try call.function.value(of: values))
        } catch {
            fail(error)
            return .null
        }
    }

    // MARK: Values

    /// Returns a value as an operand, whose bytes are valid until the next call of ``begin(_:)``.
    func encoded(_ value: Value) -> PredicateOperand {
        let constant = PredicateConstant(value, model: program.model)
        guard case .bytes(let bytes) = constant.operand else { return constant.operand }
        return .bytes(memory.copy(bytes))
    }

    /// Returns an operand as a value.
    ///
    /// An object ID contains the object's own entity, or the root of its hierarchy if the object
    /// does not exist.
    func decoded(_ operand: PredicateOperand, kind: PredicateType.Kind) -> Value {
        guard case .object(let root, let key) = operand, root >= 0 else {
            return Value(operand, kind: kind, model: program.model)
        }
        let model = program.model
        if model.entities[root].hasSubentities {
            if let record, record.key == key, model.entities[record.entityNumber].root == root {
                return .objectID(record.id)
            }
            if let record = relatedRecord(key, inHierarchyOf: root) { return .objectID(record.id) }
        }
        return .objectID(ObjectID(model.entities[root].name, key: key))
    }

    private func cast(
        _ operand: PredicateOperand, kind: PredicateType.Kind, to type: FetchRequest.CastType
    ) -> PredicateOperand {
        if case .null = operand { return .null }
        return PredicateCasting.value(decoded(operand, kind: kind), as: type, model: program.model).map { encoded($0) }
            ?? .null
    }
}

extension Value {
    /// Creates a value from an operand; an object ID contains the root entity of the hierarchy.
    init(_ operand: PredicateOperand, kind: PredicateType.Kind, model: ManagedObjectModel) {
        switch operand {
        case .null: self = .null
        case .integer(let number): self = kind == .boolean ? .bool(number != 0) : .int(number)
        case .double(let number):
            self = kind == .date ? .date(Date(timeIntervalSinceReferenceDate: number)) : .double(number)
        case .decimal(let number): self = .decimal(number.decimal)
        case .object(let root, let key):
            self = root >= 0 ? .objectID(ObjectID(model.entities[root].name, key: key)) : .null
        case .present: self = .composite([:])
        case .bytes(let bytes):
            switch kind {
            case .uri: self = .uri(String(decoding: bytes, as: UTF8.self))
            case .data, .transformable: self = .data(Data(bytes))
            case .uuid:
                self = bytes.count == 16 ? .uuid(bytes.loadUnaligned(as: UUID.self)) : .null
            default: self = .string(String(decoding: bytes, as: UTF8.self))
            }
        }
    }
}
