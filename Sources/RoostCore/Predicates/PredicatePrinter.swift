internal import Foundation

extension FetchRequest.Predicate {
    /// The predicate as text, from which ``init(_:for:model:)`` makes one that chooses the same objects.
    ///
    /// - Parameters:
    ///   - entity: The entity whose properties the names mean.
    ///   - model: The model that has the entity.
    /// - Returns: The text, on one line.
    /// - Throws: `unknownEntity`; `unsupported` for a composite as a value, which the language cannot write.
    public func format(for entity: EntityName, model: ManagedObjectModel) throws(StoreError) -> String {
        var printer = PredicatePrinter(layout: try model.requireEntity(entity).layout)
        try printer.print(self, inside: .nothing)
        return printer.text
    }
}

/// Writes predicates as text, with brackets only where the meaning needs them.
struct PredicatePrinter {
    /// What is around a predicate, from loose to tight.
    enum Surroundings: Int { case nothing, or, and, not }

    let layout: RecordLayout
    private(set) var text = ""

    init(layout: RecordLayout) { self.layout = layout }

    mutating func print(_ predicate: FetchRequest.Predicate, inside around: Surroundings) throws(StoreError) {
        switch predicate {
        case .constant(let truth): text += truth ? "TRUEPREDICATE" : "FALSEPREDICATE"
        case .comparison(let comparison): try print(comparison)
        case .and(let members): try print(members, .and, "TRUEPREDICATE", " AND ", around)
        case .or(let members): try print(members, .or, "FALSEPREDICATE", " OR ", around)
        case .not(let member):
            text += "NOT "
            try print(member, inside: .not)
        }
    }

    private mutating func print(
        _ members: [FetchRequest.Predicate], _ own: Surroundings, _ ofNothing: String, _ connective: String,
        _ around: Surroundings
    ) throws(StoreError) {
        switch members.count {
        case 0: text += ofNothing
        case 1: try print(members[0], inside: around)
        default:
            // Equal surroundings too, so that the tree keeps its shape.
            let needsBrackets = around.rawValue >= own.rawValue
            if needsBrackets { text += "(" }
            for (index, member) in members.enumerated() {
                if index > 0 { text += connective }
                try print(member, inside: own)
            }
            if needsBrackets { text += ")" }
        }
    }

    // MARK: Comparisons

    private mutating func print(_ comparison: FetchRequest.Comparison) throws(StoreError) {
        let sides: [FetchRequest.Expression]
        if case .aggregate(let members) = comparison.right { sides = members } else { sides = [comparison.right] }
        let field = ([comparison.left] + sides).compactMap { self.field($0) }.first
        try print(comparison.left, meeting: field)
        text += " \(Self.sign(comparison.operator)) "
        try print(comparison.right, meeting: field)
    }

    private func field(_ expression: FetchRequest.Expression) -> RecordLayout.Field? {
        guard case .keyPath(let path) = expression else { return nil }
        return layout.field(path.joined(separator: "."))
    }

    private static func sign(_ comparison: FetchRequest.Comparison.Operator) -> String {
        switch comparison {
        case .equal: "=="
        case .notEqual: "!="
        case .lessThan: "<"
        case .lessThanOrEqual: "<="
        case .greaterThan: ">"
        case .greaterThanOrEqual: ">="
        case .isIn: "IN"
        case .beginsWith: "BEGINSWITH"
        case .endsWith: "ENDSWITH"
        case .contains: "CONTAINS"
        case .like: "LIKE"
        case .matches: "MATCHES"
        case .between: "BETWEEN"
        }
    }

    private mutating func print(
        _ expression: FetchRequest.Expression, meeting field: RecordLayout.Field?
    ) throws(StoreError) {
        switch expression {
        case .constant(let value): try print(value, meeting: field)
        case .evaluatedObject: text += "SELF"
        case .keyPath(let path): text += path.map(Self.name).joined(separator: ".")
        case .aggregate(let members):
            text += "{"
            for (index, member) in members.enumerated() {
                if index > 0 { text += ", " }
                try print(member, meeting: field)
            }
            text += "}"
        default: throw StoreError(.unsupported, "This expression cannot be written yet.")
        }
    }

    private static func name(_ name: String) -> String {
        guard let first = name.unicodeScalars.first, PredicateLanguage.isNameStart(first),
            name.unicodeScalars.allSatisfy(PredicateLanguage.isNamePart)
        else { return "#" + quoted(name) }
        return PredicateLanguage.isReserved(name) ? "#" + name : name
    }

    // MARK: Values

    private mutating func print(_ value: Value, meeting field: RecordLayout.Field?) throws(StoreError) {
        switch value {
        case .null: text += "NULL"
        case .bool(let flag): text += flag ? "TRUE" : "FALSE"
        case .int(let number): text += "\(number)"
        case .double(let number): print(number, meeting: field)
        case .decimal(let decimal):
            let digits = DecimalNumber(decimal)?.description ?? decimal.description
            // Where it meets a decimal, any number is read as one.
            if field?.kind == .decimal, !decimal.isNaN { text += digits } else { cast(Self.quoted(digits), .decimal) }
        case .string(let string): text += Self.quoted(string)
        case .data(let data): cast(Self.quoted(data.base64EncodedString()), .data)
        case .date(let date):
            let seconds = date.timeIntervalSinceReferenceDate
            cast(seconds.isFinite ? "\(seconds)" : Self.special(seconds), .date)
        case .uuid(let uuid): cast(Self.quoted(uuid.uuidString), .uuid)
        case .uri(let uri): cast(Self.quoted(uri), .uri)
        case .objectID(let id): cast(Self.quoted("\(id.entity)/\(id.key)"), .objectID)
        case .composite:
            throw StoreError(.unsupported, "A composite cannot be written as a value of a predicate.")
        }
    }

    /// A plain number only where it is read as the same one: not where it would become a float or a decimal.
    private mutating func print(_ number: Double, meeting field: RecordLayout.Field?) {
        guard number.isFinite else { return cast(Self.special(number), .number) }
        let becomesAnother: Bool
        switch field?.kind {
        case .decimal: becomesAnother = true
        case .float: becomesAnother = Double(Float(number)).bitPattern != number.bitPattern
        default: becomesAnother = false
        }
        if becomesAnother { cast("\(number)", .number) } else { text += "\(number)" }
    }

    private static func special(_ number: Double) -> String {
        if case .string(let text) = JSONDouble.content(number) { return quoted(text) }
        return "\(number)"
    }

    private mutating func cast(_ literal: String, _ type: PredicateCast) {
        text += "CAST(\(literal), \"\(type.rawValue)\")"
    }

    private static func quoted(_ string: String) -> String {
        var result = "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"", "\\": result += "\\\(scalar)"
            case "\n": result += "\\n"
            case "\t": result += "\\t"
            case "\r": result += "\\r"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                result += "\\x" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
