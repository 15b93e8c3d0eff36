internal import Foundation
internal import RoostCore

/// A comparison of a field with constants, as ranges of the field's index encoding.
///
/// The ranges contain exactly the values for which the comparison is true. Each bound begins with
/// the byte that distinguishes null; see ``IndexKeyEncoding``.
struct FieldCondition: Sendable {
    /// The selectivity of a condition, in ascending order of the expected number of values.
    enum Strength: Int, Comparable, Sendable {
        case values, prefix, range, halfRange
        static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    /// Ascending ranges without overlaps.
    private(set) var ranges: [KeyRange]
    private(set) var strength: Strength

    var isOneValue: Bool { strength == .values && ranges.count == 1 }
    var excludesNull: Bool { ranges.allSatisfy { $0.start.bytes.first == 1 } }

    /// Creates the condition of a comparison; nil if an index cannot decide the comparison exactly.
    ///
    /// `values` are the constants on the right side: one, the two of `BETWEEN`, or all of `IN`.
    init?(
        _ field: RecordLayout.Field, comparison: FetchRequest.Comparison.Operator, values: [Value],
        model: ManagedObjectModel
    ) {
        switch comparison {
        case .equal, .isIn:
            var ranges: [KeyRange] = []
            for value in values {
                guard let range = EncodedConstant(value, field: field, model: model)?.range else { return nil }
                if !range.isEmpty { ranges.append(range) }
            }
            if ranges.count > 1 {
                ranges.sort { $0.start < $1.start }
                var different: [KeyRange] = []
                for range in ranges where different.last != range { different.append(range) }
                ranges = different
            }
            self.init(ranges: ranges, strength: .values)
        case .beginsWith:
            guard let value = values.first else { return nil }
            switch (value, field.kind) {
            case (.null, _): self.init(ranges: [], strength: .values)
            case (.string(let text), .string), (.string(let text), .uri), (.uri(let text), .string),
                (.uri(let text), .uri):
                var bytes: [UInt8] = [1]
                IndexKeyEncoding.append(escaping: Array(text.utf8), isWhole: false, to: &bytes)
                self.init(ranges: [KeyRange(prefix: bytes)], strength: text.isEmpty ? .halfRange : .prefix)
            default: return nil
            }
        case .less, .lessOrEqual, .greater, .greaterOrEqual:
            guard let value = values.first else { return nil }
            self.init(field, comparison: comparison, value: value, model: model)
        case .between:
            guard values.count == 2, let low = Self(field, comparison: .greaterOrEqual, value: values[0], model: model),
                let high = Self(field, comparison: .lessOrEqual, value: values[1], model: model)
            else { return nil }
            self = low.intersection(high)
        case .notEqual, .contains, .endsWith, .like, .matches: return nil
        }
    }

    private init?(
        _ field: RecordLayout.Field, comparison: FetchRequest.Comparison.Operator, value: Value,
        model: ManagedObjectModel
    ) {
        guard field.kind.isOrdered else { return nil }
        guard !value.isNull else {
            self.init(ranges: [], strength: .values)
            return
        }
        guard let constant = EncodedConstant(value, field: field, model: model) else { return nil }
        // NaN is neither below nor above any value, so the comparison finds nothing, although an index sorts NaN last.
        guard !constant.isUnordered else {
            self.init(ranges: [], strength: .values)
            return
        }
        let range =
            switch comparison {
            case .less: KeyRange(.before([1]), end: constant.range.start)
            case .lessOrEqual: KeyRange(.before([1]), end: constant.range.end)
            case .greater: KeyRange(constant.range.end, end: field.kind.lastOrdered)
            default: KeyRange(constant.range.start, end: field.kind.lastOrdered)
            }
        self.init(ranges: range.isEmpty ? [] : [range], strength: .halfRange)
    }

    private init(ranges: [KeyRange], strength: Strength) {
        self.ranges = ranges
        self.strength = strength
    }

    func intersection(_ other: Self) -> Self {
        var (ranges, a, b) = ([KeyRange](), 0, 0)
        while a < self.ranges.count, b < other.ranges.count {
            let both = self.ranges[a].intersection(other.ranges[b])
            // A single value keeps its own bounds, because the planner reads the encoded value from them.
            if !both.isEmpty {
                ranges.append(strength == .values ? self.ranges[a] : other.strength == .values ? other.ranges[b] : both)
            }
            if self.ranges[a].end < other.ranges[b].end { a += 1 } else { b += 1 }
        }
        let areHalves = strength == .halfRange && other.strength == .halfRange
        return Self(ranges: ranges, strength: areHalves ? .range : min(strength, other.strength))
    }
}

/// The position of a constant among the encoded values of a field.
///
/// The range contains only the constant. If the encoding cannot represent the constant, as 2.5
/// among integers, the range is empty and at the constant's position.
private struct EncodedConstant {
    var range: KeyRange
    var isUnordered = false

    /// Creates the position; nil if an index cannot decide the comparison exactly.
    init?(_ value: Value, field: RecordLayout.Field, model: ManagedObjectModel) {
        var bytes: [UInt8] = [1]
        switch (field.kind, value) {
        case (_, .null): bytes = [0]
        case (.integer64, _), (.integer32, _), (.integer16, _), (.boolean, _), (.order, _):
            guard let constant = Self(amongIntegers: value) else { return nil }
            self = constant
            return
        case (.double, _), (.float, _):
            guard let constant = Self(amongDoubles: value) else { return nil }
            self = constant
            return
        case (.date, .date(let date)):
            self.init(double: date.timeIntervalSinceReferenceDate)
            return
        case (.decimal, .decimal(let decimal)):
            guard let number = DecimalNumber(decimal) else { return nil }
            guard !number.isNaN else {
                self = .unordered
                return
            }
            IndexKeyEncoding.append(number, to: &bytes)
        case (.decimal, .int(let number)): guard Self.append(number, to: &bytes) else { return nil }
        case (.decimal, .bool(let flag)): guard Self.append(flag ? 1 : 0, to: &bytes) else { return nil }
        case (.string, .string(let text)), (.string, .uri(let text)), (.uri, .string(let text)), (.uri, .uri(let text)):
            IndexKeyEncoding.append(escaping: Array(text.utf8), isWhole: true, to: &bytes)
        case (.data, .data(let data)), (.transformable, .data(let data)):
            IndexKeyEncoding.append(escaping: Array(data), isWhole: true, to: &bytes)
        case (.uuid, .uuid(let uuid)): withUnsafeBytes(of: uuid.uuid) { bytes.append(contentsOf: $0) }
        case (.reference, .objectID(let id)), (.polymorphicReference, .objectID(let id)):
            guard let root = model.entity(id.entity)?.root, let destination = field.destination,
                model.entities[destination].root == root
            else {
                self = .unordered
                return
            }
            IndexKeyEncoding.append(reference: id.key, to: &bytes)
        case (.objectID, .objectID(let id)):
            guard let root = model.entity(id.entity)?.root else {
                self = .unordered
                return
            }
            IndexKeyEncoding.append(root: root, key: id.key, to: &bytes)
        default: return nil
        }
        self.init(KeyRange(prefix: bytes))
    }

    private init(_ range: KeyRange, isUnordered: Bool = false) {
        self.range = range
        self.isUnordered = isUnordered
    }

    /// A constant that equals no value and has no position.
    private static let unordered = Self(KeyRange(.before([1]), end: .before([1])), isUnordered: true)

    private static func append(_ number: Int64, to bytes: inout [UInt8]) -> Bool {
        guard let number = DecimalNumber(isNegative: number < 0, mantissa: UInt128(number.magnitude), exponent: 0)
        else {
            return false
        }
        IndexKeyEncoding.append(number, to: &bytes)
        return true
    }

    // MARK: Among integers

    private init?(amongIntegers value: Value) {
        switch value {
        case .int(let number): self.init(integer: number)
        case .bool(let flag): self.init(integer: flag ? 1 : 0)
        case .double(let number):
            let floor = number.rounded(.down)
            if number.isNaN {
                self = .unordered
            } else if floor < -0x1p63 {
                self.init(KeyRange(.before([1]), end: .before([1])))
            } else if let whole = Int64(exactly: floor) {
                self = Self(integer: whole).orBehind(isExact: number == floor)
            } else {
                self.init(KeyRange(.behind([1]), end: .behind([1])))
            }
        case .decimal(let decimal):
            guard let number = DecimalNumber(decimal) else { return nil }
            guard !number.isNaN else {
                self = .unordered
                return
            }
            guard let (whole, isExact) = number.floor else { return nil }
            self = Self(integer: whole).orBehind(isExact: isExact)
        default: return nil
        }
    }

    private init(integer: Int64) {
        var bytes: [UInt8] = [1]
        IndexKeyEncoding.append(integer, to: &bytes)
        self.init(KeyRange(prefix: bytes))
    }

    /// Returns this value if the constant equals it, otherwise the position just after this value.
    private func orBehind(isExact: Bool) -> Self { isExact ? self : Self(KeyRange(range.end, end: range.end)) }

    // MARK: Among floating-point numbers

    private init?(amongDoubles value: Value) {
        switch value {
        case .double(let number): self.init(double: number)
        case .bool(let flag): self.init(double: flag ? 1 : 0)
        case .int(let number): self.init(nearest: number)
        case .decimal(let decimal):
            // A decimal is compared as its nearest double, which is exact for whole numbers up to 2^53.
            guard let (whole, isExact) = DecimalNumber(decimal)?.floor, isExact, whole.magnitude <= 1 << 53 else {
                return nil
            }
            self.init(double: Double(whole))
        default: return nil
        }
    }

    private init(double: Double) {
        guard !double.isNaN else {
            self = .unordered
            return
        }
        var bytes: [UInt8] = [1]
        IndexKeyEncoding.append(double, to: &bytes)
        self.init(KeyRange(prefix: bytes))
    }

    private init(nearest number: Int64) {
        let double = Double(number)
        let nearest = Self(double: double)
        guard Int64(exactly: double) != number else {
            self = nearest
            return
        }
        // The greatest integers round to 2^63, which is above every Int64.
        let isAbove = Int64(exactly: double).map { $0 > number } ?? true
        let cut = isAbove ? nearest.range.start : nearest.range.end
        self.init(KeyRange(cut, end: cut))
    }
}

extension DecimalNumber {
    /// The greatest integer that is not above the number, and whether they are equal; nil for NaN
    /// or a magnitude of 2⁶³ or more.
    fileprivate var floor: (Int64, isExact: Bool)? {
        guard !isNaN else { return nil }
        var (whole, isExact) = (mantissa, true)
        if exponent >= 0 {
            for _ in 0..<exponent {
                let (product, isTooLarge) = whole.multipliedReportingOverflow(by: 10)
                guard !isTooLarge else { return nil }
                whole = product
            }
        } else {
            for _ in 0..<(-Int(exponent)) {
                isExact = isExact && whole % 10 == 0
                whole /= 10
            }
        }
        guard let magnitude = Int64(exactly: whole) else { return nil }
        guard isNegative else { return (magnitude, isExact) }
        return (isExact ? -magnitude : -magnitude - 1, isExact)
    }
}

extension RecordLayout.Field.Kind {
    /// Whether the field's values can be compared by `<`.
    fileprivate var isOrdered: Bool {
        switch self {
        case .transformable, .composite, .reference, .polymorphicReference, .objectID: false
        default: true
        }
    }

    /// The upper end for `>` and `>=`: after all values except NaN.
    fileprivate var lastOrdered: KeyCut {
        switch self {
        case .double, .float, .date:
            var bytes: [UInt8] = [1]
            IndexKeyEncoding.append(Double.infinity, to: &bytes)
            return .behind(bytes)
        case .decimal: return .behind([1, 2])
        default: return .behind([1])
        }
    }
}
