internal import Foundation
internal import RoostCore
internal import RoostQuery

/// An SQL expression, with the field kind of its values.
struct SQLTerm {
    var sql: String
    var kind: RecordLayout.Field.Kind
    /// The expression for the entity number of an object ID attribute.
    var entitySQL: String?
    /// The root entity of all objects that a reference can refer to; nil for objects of any
    /// hierarchy.
    var root: Int?
    var isIndexed = false
}

enum SQLOperand {
    case constant(Value)
    case term(SQLTerm)
}

extension SQLPredicateTranslator {
    /// The maximum number of values in an IN with a parameter for each value.
    private static let valuesPerList = 500

    mutating func comparison(_ comparison: FetchRequest.Comparison, nesting: Int) -> String? {
        if comparison.modifier != .direct { return quantified(comparison, nesting: nesting) }
        if let collection = isCollection(comparison.left), comparison.operator == .contains {
            return contains(collection, value: comparison.right, options: comparison.options, nesting: nesting)
        }
        if let collection = isCollection(comparison.right), comparison.operator == .isIn {
            return contains(collection, value: comparison.left, options: comparison.options, nesting: nesting)
        }
        if let counting = counting(comparison, nesting: nesting) { return counting }
        guard let left = operand(comparison.left, nesting: nesting) else { return nil }
        return compare(left, comparison: comparison, nesting: nesting)
    }

    /// Compares the translated left side with the right side.
    mutating func compare(
        _ left: SQLOperand, comparison: FetchRequest.Comparison, nesting: Int
    ) -> String? {
        // `[n]` changes nothing; `[l]` changes only comparisons by order.
        var options = comparison.options.subtracting(.normalized)
        switch comparison.operator {
        case .less, .lessOrEqual, .greater, .greaterOrEqual, .between: break
        default: options.remove(.localized)
        }
        switch comparison.operator {
        case .isIn:
            guard case .aggregate(let members) = comparison.right else { break }
            return isIn(left, members: members, options: options, nesting: nesting)
        case .between:
            guard case .aggregate(let ends) = comparison.right, ends.count == 2,
                let low = operand(ends[0], nesting: nesting),
                let lower = compare(left, comparison: .greaterOrEqual, right: low, options: options),
                let high = operand(ends[1], nesting: nesting),
                let upper = compare(left, comparison: .lessOrEqual, right: high, options: options)
            else { return nil }
            return "(\(lower) AND \(upper))"
        default: break
        }
        guard let right = operand(comparison.right, nesting: nesting) else { return nil }
        return compare(left, comparison: comparison.operator, right: right, options: options)
    }

    private mutating func compare(
        _ left: SQLOperand, comparison: FetchRequest.Comparison.Operator, right: SQLOperand,
        options: FetchRequest.Comparison.Options
    ) -> String? {
        switch (left, right) {
        case (.constant, .constant): return nil
        case (.term(let term), .constant(let value)):
            return compare(term, comparison: comparison, value: value, options: options)
        case (.constant(let value), .term(let term)):
            return comparison.mirrored.flatMap { compare(term, comparison: $0, value: value, options: options) }
        case (.term(let left), .term(let right)):
            return compare(left, comparison: comparison, right: right, options: options)
        }
    }

    // MARK: With a value

    private mutating func compare(
        _ term: SQLTerm, comparison: FetchRequest.Comparison.Operator, value: Value,
        options: FetchRequest.Comparison.Options
    ) -> String? {
        let column = term.sql
        if value.isNull {
            switch comparison {
            case .equal: return "\(column) IS NULL"
            case .notEqual: return "\(column) IS NOT NULL"
            default: return Self.constant(isTrue: false, term: term)
            }
        }
        if term.kind.isText, !options.isEmpty || comparison.needsMatcher {
            return match(column, comparison: comparison, value: value, options: options)
        }
        switch term.kind {
        case .reference, .polymorphicReference, .objectID:
            return compareObject(term, comparison: comparison, value: value)
        case .decimal, .composite: return nil
        default: break
        }
        if value.isNaN { return Self.constant(isTrue: comparison == .notEqual, term: term) }
        if comparison == .beginsWith { return beginsWith(column, value: value) }
        guard let operand = operand(value, for: term.kind) else { return nil }
        switch comparison {
        case .equal: return "\(column) = \(bind(operand))"
        case .notEqual: return dialect.isDistinct(column, from: bind(operand))
        case .less: return "\(column) < \(bind(operand))"
        case .lessOrEqual: return "\(column) <= \(bind(operand))"
        case .greater, .greaterOrEqual:
            let orEqual = comparison == .greaterOrEqual
            guard term.kind.isFloating else { return "\(column) \(orEqual ? ">=" : ">") \(bind(operand))" }
            return dialect.floating(column, greaterThan: bind(operand), orEqual: orEqual)
        default: return nil
        }
    }

    /// Returns a condition whose result is constant.
    ///
    /// A subselect becomes a part of the condition: its parameters are already numbered, and must
    /// all be used.
    private static func constant(isTrue truth: Bool, term: SQLTerm) -> String {
        guard term.sql.hasPrefix("(") else { return truth ? "TRUE" : "FALSE" }
        return "(\(term.sql) IS NULL \(truth ? "OR TRUE" : "AND FALSE"))"
    }

    /// Translates a text comparison that SQL lacks or defines differently.
    ///
    /// Uses the engine's matcher if the database can call it. Otherwise, uses ``find(_:in:)`` for a
    /// comparison without options.
    private mutating func match(
        _ column: String, comparison: FetchRequest.Comparison.Operator, value: Value,
        options: FetchRequest.Comparison.Options
    ) -> String? {
        let text: String
        switch value {
        case .string(let string), .uri(let string): text = string
        default: return nil
        }
        // Compiling the request has refused invalid patterns.
        guard let matcher = try? StringMatcher(comparison, pattern: text, options: options) else { return nil }
        guard let condition = dialect.matches(column, with: dialect.parameter(values.count + 1)) else {
            return options.isEmpty ? find(matcher, in: column) : nil
        }
        _ = bind(.matcher(matcher))
        // Null differs from every text.
        return comparison == .notEqual ? "COALESCE(\(condition), TRUE)" : condition
    }

    /// Translates a search for a text without folding; nil if SQL cannot express it.
    private mutating func find(_ matcher: StringMatcher, in text: String) -> String? {
        guard let (pattern, place) = matcher.literal else { return nil }
        switch place {
        case .whole: return "\(text) = \(bind(.text(pattern)))"
        case .start: return beginsWith(text, value: .string(pattern))
        case .end, .anywhere:
            let condition = (dialect as? any SQLTextSearching)?.finds(
                pattern, parameter: dialect.parameter(values.count + 1), atEnd: place == .end, in: text)
            if condition != nil { _ = bind(.text(pattern)) }
            return condition
        }
    }

    /// Returns a necessary condition of a folded comparison with a constant; nil if SQL has none.
    ///
    /// Folding changes only the case of an ASCII text, so SQL can compare such a text. Every other
    /// text meets the condition.
    mutating func candidates(_ predicate: FetchRequest.Predicate) -> String? {
        guard case .comparison(let comparison) = predicate, comparison.modifier == .direct,
            case .constant(let value) = comparison.right, case .string(let pattern) = value,
            case .keyPath = comparison.left,
            case .term(let term) = operand(comparison.left, nesting: 2), term.kind.isText,
            let matcher = try? StringMatcher(comparison.operator, pattern: pattern, options: comparison.options),
            let (literal, _) = matcher.literal,
            let (lowercased, isOther) = (dialect as? any SQLTextSearching)?.lowercasedASCII(term.sql)
        else { return nil }
        // Folding an ASCII text gives an ASCII text. So a non-ASCII literal can match only non-ASCII texts.
        guard literal.utf8.allSatisfy({ $0 < 0x80 }) else { return isOther }
        let text = comparison.options.contains(.caseInsensitive) ? lowercased : term.sql
        return find(matcher, in: text).map { "(\($0) OR \(isOther))" }
    }

    /// Returns the parameter with which SQL compares a column as the engine does, if any.
    private func operand(_ value: Value, for kind: RecordLayout.Field.Kind) -> SQLValue? {
        let operand = Self.operand(value, for: kind)
        guard !dialect.comparesNumbersExactly else { return operand }
        switch operand {
        // All databases compare numbers of the column's own type exactly.
        case .integer(let number) where kind.isFloating: return Double(exactly: number).map { .real($0) }
        case .real(let number) where !kind.isFloating: return Int64(exactly: number).map { .integer($0) }
        default: return operand
        }
    }

    /// Returns the parameter for a database that compares numbers exactly.
    private static func operand(_ value: Value, for kind: RecordLayout.Field.Kind) -> SQLValue? {
        switch (value, kind) {
        case (.bool(let flag), .integer64), (.bool(let flag), .integer32), (.bool(let flag), .integer16),
            (.bool(let flag), .boolean), (.bool(let flag), .double), (.bool(let flag), .float):
            return .integer(flag ? 1 : 0)
        case (.int(let number), .integer64), (.int(let number), .integer32), (.int(let number), .integer16),
            (.int(let number), .boolean), (.int(let number), .order), (.int(let number), .double),
            (.int(let number), .float):
            return .integer(number)
        case (.double(let number), .integer64), (.double(let number), .integer32), (.double(let number), .integer16),
            (.double(let number), .boolean), (.double(let number), .double), (.double(let number), .float):
            return .real(number)
        case (.date(let date), .date): return .real(date.timeIntervalSinceReferenceDate)
        case (.string(let text), .string), (.uri(let text), .string), (.string(let text), .uri), (.uri(let text), .uri):
            return .text(text)
        case (.uuid(let uuid), .uuid): return .blob(uuid.bytes)
        case (.data(let data), .data), (.data(let data), .transformable): return .blob([UInt8](data))
        default: return nil
        }
    }

    private mutating func compareObject(
        _ term: SQLTerm, comparison: FetchRequest.Comparison.Operator, value: Value
    ) -> String? {
        guard comparison == .equal || comparison == .notEqual, case .objectID(let id) = value else { return nil }
        let isEqual = comparison == .equal
        guard let other = schema.model.entity(id.entity), term.root == nil || term.root == other.root else {
            return Self.constant(isTrue: !isEqual, term: term)
        }
        var condition = "\(term.sql) = \(bind(.integer(id.key)))"
        if let entityColumn = term.entitySQL {
            let numbers = schema.model.entities[other.root].selfAndSubentities.map(String.init).joined(separator: ", ")
            condition = "(\(condition) AND \(entityColumn) IN (\(numbers)))"
        }
        return isEqual ? condition : "(NOT COALESCE(\(condition), FALSE))"
    }

    /// Translates BEGINSWITH to a range of texts in code point order.
    ///
    /// The range ends before the smallest text that is greater than every text with this prefix.
    private mutating func beginsWith(_ column: String, value: Value) -> String? {
        let prefix: String
        switch value {
        case .string(let text), .uri(let text): prefix = text
        default: return nil
        }
        guard !prefix.isEmpty else { return "\(column) IS NOT NULL" }
        let lower = bind(.text(prefix))
        var scalars = Array(prefix.unicodeScalars)
        while let last = scalars.popLast() {
            let next = last.value == 0xD7FF ? 0xE000 : last.value + 1
            guard let scalar = Unicode.Scalar(next) else { continue }
            var end = String.UnicodeScalarView(scalars)
            end.append(scalar)
            let upper = bind(.text(String(end)))
            // BETWEEN reads the column once for both bounds, and few rows reach the second condition.
            return "(\(column) BETWEEN \(lower) AND \(upper) AND \(column) <> \(upper))"
        }
        return "\(column) >= \(lower)"
    }

    // MARK: With a list

    private mutating func isIn(
        _ subject: SQLOperand, members: [FetchRequest.Expression], options: FetchRequest.Comparison.Options,
        nesting: Int
    ) -> String? {
        if case .term(let term) = subject, let constants = Self.constants(members),
            options.isEmpty || !term.kind.isText, let operands = listOperands(constants, term: term)
        {
            return isIn(term, operands: operands)
        }
        // IN is used only for simple constants without text options. In other short lists, members become comparisons.
        guard members.count <= Self.valuesPerList else { return nil }
        var terms: [String] = []
        for member in members {
            guard let operand = operand(member, nesting: nesting),
                let term = compare(subject, comparison: .equal, right: operand, options: options)
            else { return nil }
            terms.append(term)
        }
        if terms.isEmpty, case .term(let term) = subject { return Self.constant(isTrue: false, term: term) }
        return terms.isEmpty ? "FALSE" : Self.chain(terms, word: "OR")
    }

    private static func constants(_ members: [FetchRequest.Expression]) -> [Value]? {
        var constants: [Value] = []
        constants.reserveCapacity(members.count)
        for member in members {
            guard case .constant(let value) = member else { return nil }
            constants.append(value)
        }
        return constants
    }

    /// Returns the values of a list as parameters for the column; nil if IN cannot compare them.
    ///
    /// Omits NaN and objects of another hierarchy, because the column can never equal them.
    private func listOperands(_ constants: [Value], term: SQLTerm) -> [SQLValue]? {
        switch term.kind {
        case .objectID, .decimal, .composite: return nil
        default: break
        }
        var operands: [SQLValue] = []
        operands.reserveCapacity(constants.count)
        for constant in constants where !constant.isNaN {
            if constant.isNull {
                operands.append(.null)
            } else if case .objectID(let id) = constant {
                guard term.kind == .reference || term.kind == .polymorphicReference else { return nil }
                if schema.model.entity(id.entity)?.root == term.root { operands.append(.integer(id.key)) }
            } else {
                guard let operand = operand(constant, for: term.kind) else { return nil }
                operands.append(operand)
            }
        }
        return operands
    }

    private mutating func isIn(_ term: SQLTerm, operands: [SQLValue]) -> String? {
        var terms: [String] = []
        var given: [SQLValue] = []
        given.reserveCapacity(operands.count)
        var hasNull = false
        for operand in operands {
            if operand == .null { hasNull = true } else { given.append(operand) }
        }
        if hasNull { terms.append("\(term.sql) IS NULL") }
        // In one parameter, a list has unlimited length and does not change the statement's text.
        if given.count > Self.valuesPerList,
            let list = dialect.list(given, parameter: dialect.parameter(values.count + 1))
        {
            _ = bind(list.value)
            terms.append("\(term.sql) IN (\(list.elements))")
        } else {
            guard values.count + given.count <= dialect.maximumParameterCount else { return nil }
            let parameters = given.map { bind($0) }
            for start in stride(from: 0, to: parameters.count, by: Self.valuesPerList) {
                let chunk = parameters[start..<min(parameters.count, start + Self.valuesPerList)]
                terms.append("\(term.sql) IN (\(chunk.joined(separator: ", ")))")
            }
        }
        return terms.isEmpty ? Self.constant(isTrue: false, term: term) : Self.chain(terms, word: "OR")
    }

    // MARK: With another expression

    /// Returns nil if SQL would compare the expressions differently from the engine.
    private func compare(
        _ left: SQLTerm, comparison: FetchRequest.Comparison.Operator, right: SQLTerm,
        options: FetchRequest.Comparison.Options
    ) -> String? {
        let (a, b) = (left.sql, right.sql)
        let isFloating = left.kind.isFloating || right.kind.isFloating
        let isReference = left.kind.isReference && right.kind.isReference
        if isReference {
            guard left.root == right.root else { return nil }
        } else {
            guard left.kind.comparesPlainly(with: right.kind), options.isEmpty || !left.kind.isText,
                left.kind.isFloating == right.kind.isFloating || dialect.comparesNumbersExactly
            else { return nil }
        }
        switch comparison {
        case .equal, .notEqual:
            let distinct = dialect.isDistinct(a, from: b)
            // Some databases treat two NaN with the same bits as equal.
            var isNumber = ""
            if isFloating {
                guard let condition = dialect.isNoNaN(a) else { return nil }
                isNumber = " AND \(condition)"
            }
            let equal = "(NOT (\(distinct))\(isNumber))"
            return comparison == .equal ? equal : "(NOT \(equal))"
        case .less, .lessOrEqual, .greater, .greaterOrEqual:
            guard !isReference else { return nil }
            let order = "\(a) \(comparison.sqlWord) \(b)"
            guard isFloating else { return order }
            guard let left = dialect.isNoNaN(a), let right = dialect.isNoNaN(b) else { return nil }
            return "(\(order) AND \(left) AND \(right))"
        default: return nil
        }
    }
}

extension FetchRequest.Comparison.Operator {
    fileprivate var mirrored: Self? {
        switch self {
        case .equal, .notEqual: self
        case .less: .greater
        case .lessOrEqual: .greaterOrEqual
        case .greater: .less
        case .greaterOrEqual: .lessOrEqual
        case .isIn: .contains
        case .contains: .isIn
        default: nil
        }
    }

    /// Whether a text comparison without options needs a matcher or a search.
    fileprivate var needsMatcher: Bool {
        switch self {
        case .contains, .endsWith, .like, .matches, .isIn: true
        default: false
        }
    }

    var sqlWord: String {
        switch self {
        case .equal: "="
        case .less: "<"
        case .lessOrEqual: "<="
        case .greater: ">"
        default: ">="
        }
    }
}

extension RecordLayout.Field.Kind {
    var isText: Bool { self == .string || self == .uri }
    var isFloating: Bool { self == .double || self == .float || self == .date }
    var isReference: Bool { self == .reference || self == .polymorphicReference }

    /// Returns whether SQL compares columns of the two kinds as the engine compares their values.
    fileprivate func comparesPlainly(with other: Self) -> Bool {
        switch (family, other.family) {
        case (nil, _), (_, nil): false
        case (let a, let b): a == b
        }
    }

    /// The group of kinds whose values SQL can compare with each other.
    private var family: Int? {
        switch self {
        case .integer64, .integer32, .integer16, .boolean, .order, .double, .float: 0
        case .date: 1
        case .string, .uri: 2
        case .uuid: 3
        case .data: 4
        default: nil
        }
    }
}

extension Value {
    var isNaN: Bool {
        switch self {
        case .double(let number): number.isNaN
        case .date(let date): date.timeIntervalSinceReferenceDate.isNaN
        case .decimal(let number): number.isNaN
        default: false
        }
    }
}

extension UUID {
    fileprivate var bytes: [UInt8] {
        let b = uuid
        return [b.0, b.1, b.2, b.3, b.4, b.5, b.6, b.7, b.8, b.9, b.10, b.11, b.12, b.13, b.14, b.15]
    }
}
