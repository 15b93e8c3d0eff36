internal import Foundation
internal import RoostCore

/// Says in SQL what of a predicate SQL can say without changing an answer; the rest is left to ``RecordFilter``.
///
/// A condition is translated for a place where null counts as false, which is so in WHERE; below NOT, null is made false first.
/// Values are always parameters. Numbers of entities are the only literals.
struct SQLPredicateTranslator {
    let schema: SQLSchema
    let entity: ManagedObjectModel.Entity
    /// The parameters' values so far.
    private(set) var values: [SQLValue] = []

    /// How deep the parentheses of a condition may be nested: parsers have small stacks.
    private static let maximumNesting = 25
    /// The most values of one IN.
    private static let valuesPerList = 500
    /// The most terms of one chain of AND or OR.
    private static let termsPerChain = 16

    init(schema: SQLSchema, entity: ManagedObjectModel.Entity) {
        self.schema = schema
        self.entity = entity
    }

    private var dialect: any SQLDialect { schema.dialect }
    private var table: SQLTable { schema.table(of: entity.number) }

    /// The conditions that every wanted row meets, and whether every row that meets them is wanted.
    mutating func conditions(_ predicate: FetchRequest.Predicate?) -> (conditions: [String], isExact: Bool) {
        guard let predicate else { return ([], true) }
        let conjuncts: [FetchRequest.Predicate]
        if case .and(let members) = predicate { conjuncts = members } else { conjuncts = [predicate] }
        // Databases look at conditions in the order in which they stand: first those that cost least.
        var (plain, others): ([String], [String]) = ([], [])
        var isExact = true
        for conjunct in conjuncts {
            let before = values
            if plain.count + others.count < Self.termsPerChain, let condition = condition(conjunct, nesting: 2),
                values.count <= dialect.maximumParameterCount - 8
            {
                if conjuncts.count > 1, comparesNumbers(conjunct) {
                    plain.append(condition)
                } else {
                    others.append(condition)
                }
            } else {
                values = before
                isExact = false
            }
        }
        return (plain + others, isExact)
    }

    /// Whether a predicate compares a field that is a number with a constant.
    private func comparesNumbers(_ predicate: FetchRequest.Predicate) -> Bool {
        guard case .comparison(let comparison) = predicate, comparison.operator != .isIn,
            case .keyPath(let path) = comparison.left, let field = field(path)
        else { return false }
        return !field.kind.isVariable && field.kind != .uuid && field.kind != .decimal
    }

    private func field(_ path: [String]) -> RecordLayout.Field? {
        if path.count == 1, let name = path.first { return entity.layout.field(name) }
        return entity.layout.field(path.joined(separator: "."))
    }

    private mutating func bind(_ value: SQLValue) -> String {
        values.append(value)
        return dialect.parameter(values.count)
    }

    private mutating func condition(_ predicate: FetchRequest.Predicate, nesting: Int) -> String? {
        guard nesting < Self.maximumNesting else { return nil }
        switch predicate {
        case .constant(let truth): return truth ? "TRUE" : "FALSE"
        case .comparison(let comparison): return self.comparison(comparison)
        case .not(let member):
            return condition(member, nesting: nesting + 2).map { "(NOT COALESCE(\($0), FALSE))" }
        case .and(let members): return join(members, "AND", empty: "TRUE", nesting: nesting)
        case .or(let members): return join(members, "OR", empty: "FALSE", nesting: nesting)
        }
    }

    private mutating func join(
        _ members: [FetchRequest.Predicate], _ word: String, empty: String, nesting: Int
    ) -> String? {
        guard !members.isEmpty else { return empty }
        var terms: [String] = []
        // The chains of chains below need a few levels themselves; 16^4 terms are more than there are parameters.
        for member in members {
            guard let term = condition(member, nesting: nesting + 5), values.count <= dialect.maximumParameterCount
            else {
                return nil
            }
            terms.append(term)
        }
        return Self.chain(terms, word)
    }

    /// Joins terms so that neither the parser's stack nor the depth of the expression grows with their number.
    private static func chain(_ terms: [String], _ word: String) -> String {
        var terms = terms
        while terms.count > termsPerChain {
            terms = stride(from: 0, to: terms.count, by: termsPerChain).map { start in
                "(" + terms[start..<min(terms.count, start + termsPerChain)].joined(separator: " \(word) ") + ")"
            }
        }
        return "(" + terms.joined(separator: " \(word) ") + ")"
    }

    // MARK: Comparisons

    private mutating func comparison(_ comparison: FetchRequest.Comparison) -> String? {
        guard comparison.modifier == .direct, comparison.options.isEmpty else { return nil }
        if comparison.operator == .isIn {
            guard case .aggregate(let members) = comparison.right else { return nil }
            var constants: [Value] = []
            for member in members {
                guard case .constant(let value) = member else { return nil }
                constants.append(value)
            }
            return isIn(comparison.left, constants)
        }
        switch (comparison.left, comparison.right) {
        case (.constant, .constant): return nil
        case (let subject, .constant(let value)): return compare(subject, comparison.operator, value)
        case (.constant(let value), let subject):
            return comparison.operator.mirrored.flatMap { compare(subject, $0, value) }
        default: return nil
        }
    }

    private mutating func compare(
        _ subject: FetchRequest.Expression, _ comparison: FetchRequest.Comparison.Operator, _ value: Value
    ) -> String? {
        switch subject {
        case .evaluatedObject:
            return compareObject(column: "_id", entityColumn: nil, root: entity.root, comparison, value)
        case .keyPath(let path):
            guard let field = field(path),
                let column = table.column(field, of: entity.number)
            else { return nil }
            return compare(field, column, comparison, value)
        default: return nil
        }
    }

    private mutating func compare(
        _ field: RecordLayout.Field, _ column: String, _ comparison: FetchRequest.Comparison.Operator, _ value: Value
    ) -> String? {
        if value.isNull {
            switch comparison {
            case .equal: return "\(column) IS NULL"
            case .notEqual: return "\(column) IS NOT NULL"
            default: return "FALSE"
            }
        }
        switch field.kind {
        case .reference, .polymorphicReference, .objectID:
            return compareObject(
                column: column,
                entityColumn: field.kind == .objectID ? table.entityColumn(field, of: entity.number) : nil,
                root: field.destination.map { schema.model.entities[$0].root }, comparison, value)
        case .decimal, .composite: return nil
        default: break
        }
        if value.isNaN { return comparison == .notEqual ? "TRUE" : "FALSE" }
        if comparison == .beginsWith { return beginsWith(column, value) }
        guard let operand = Self.operand(value, for: field.kind) else { return nil }
        let isFloating = field.kind == .double || field.kind == .float || field.kind == .date
        switch comparison {
        case .equal: return "\(column) = \(bind(operand))"
        case .notEqual: return dialect.isDistinct(column, bind(operand))
        case .lessThan: return "\(column) < \(bind(operand))"
        case .lessThanOrEqual: return "\(column) <= \(bind(operand))"
        case .greaterThan, .greaterThanOrEqual:
            let orEqual = comparison == .greaterThanOrEqual
            return isFloating
                ? dialect.floating(column, greaterThan: bind(operand), orEqual: orEqual)
                : "\(column) \(orEqual ? ">=" : ">") \(bind(operand))"
        default: return nil
        }
    }

    /// The parameter that compares with a column as the value compares with the field; nil where there is none.
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
        column: String, entityColumn: String?, root: Int?, _ comparison: FetchRequest.Comparison.Operator,
        _ value: Value
    ) -> String? {
        guard comparison == .equal || comparison == .notEqual else { return nil }
        let isEqual = comparison == .equal
        guard case .objectID(let id) = value else {
            return value.isNull && root != nil ? (isEqual ? "FALSE" : "TRUE") : nil
        }
        guard let other = schema.model.entity(id.entity), root == nil || root == other.root else {
            return isEqual ? "FALSE" : "TRUE"
        }
        var condition = "\(column) = \(bind(.integer(id.key)))"
        if let entityColumn {
            let numbers = schema.model.entities[other.root].selfAndSubentities.map(String.init).joined(separator: ", ")
            condition = "(\(condition) AND \(entityColumn) IN (\(numbers)))"
        }
        return isEqual ? condition : "(NOT COALESCE(\(condition), FALSE))"
    }

    /// All texts between the prefix and the first text behind those that start with it, in the order of code points.
    private mutating func beginsWith(_ column: String, _ value: Value) -> String? {
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
            // BETWEEN reads the column once for both ends; few rows get as far as the second condition.
            return "(\(column) BETWEEN \(lower) AND \(upper) AND \(column) <> \(upper))"
        }
        return "\(column) >= \(lower)"
    }

    private mutating func isIn(_ subject: FetchRequest.Expression, _ constants: [Value]) -> String? {
        guard values.count + constants.count <= dialect.maximumParameterCount else { return nil }
        guard case .keyPath(let path) = subject, let field = field(path),
            let column = table.column(field, of: entity.number), field.relationship == nil,
            field.kind != .objectID, field.kind != .decimal, field.kind != .composite
        else {
            // Objects and the like: one comparison each.
            guard constants.count <= Self.valuesPerList else { return nil }
            var terms: [String] = []
            for constant in constants {
                guard let term = compare(subject, .equal, constant) else { return nil }
                terms.append(term)
            }
            return terms.isEmpty ? "FALSE" : Self.chain(terms, "OR")
        }
        var terms: [String] = []
        var parameters: [String] = []
        for constant in constants where !constant.isNaN {
            if constant.isNull {
                if terms.isEmpty { terms.append("\(column) IS NULL") }
                continue
            }
            guard let operand = Self.operand(constant, for: field.kind) else { return nil }
            parameters.append(bind(operand))
        }
        for start in stride(from: 0, to: parameters.count, by: Self.valuesPerList) {
            let chunk = parameters[start..<min(parameters.count, start + Self.valuesPerList)]
            terms.append("\(column) IN (\(chunk.joined(separator: ", ")))")
        }
        return terms.isEmpty ? "FALSE" : Self.chain(terms, "OR")
    }
}

extension FetchRequest.Comparison.Operator {
    /// The operator that says the same with the sides exchanged, where there is one.
    fileprivate var mirrored: Self? {
        switch self {
        case .equal, .notEqual: self
        case .lessThan: .greaterThan
        case .lessThanOrEqual: .greaterThanOrEqual
        case .greaterThan: .lessThan
        case .greaterThanOrEqual: .lessThanOrEqual
        default: nil
        }
    }
}

extension Value {
    fileprivate var isNaN: Bool {
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
