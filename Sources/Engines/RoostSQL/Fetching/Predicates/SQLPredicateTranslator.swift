internal import RoostCore
internal import RoostQuery

/// A translator of the parts of a predicate that SQL can evaluate with the same result as the
/// engine.
///
/// ``RecordFilter`` evaluates the rest.
///
/// A condition is translated for a context in which null counts as false, such as WHERE. An operand
/// of NOT is converted first, so that null becomes false. Values are always parameters; only entity
/// numbers are literals.
///
/// The request's object is the row `t0`. A path through to-one relationships is a LEFT JOIN, whose
/// columns are null if the path ends early. A to-many relationship is a subselect.
struct SQLPredicateTranslator {
    let schema: SQLSchema
    /// The row of the request's object.
    let object: SQLRow
    /// The values of the parameters so far.
    private(set) var values: [SQLValue] = []
    /// The additional tables of each SELECT.
    ///
    /// The request's SELECT comes first.
    var levels = [SQLLevel()]
    /// The rows of variables.
    var variables: [String: SQLRow] = [:]
    /// The level of the outermost SELECT whose rows were read since this property was reset.
    var lowestLevel = Int.max
    /// Whether all objects must be examined: no other condition reduces their number, and the fetch
    /// cannot end early.
    let looksAtAll: Bool
    /// A folded comparison whose rows are found by ranges of an index, if any.
    var searchedText: FetchRequest.Predicate?
    /// The number of aliases in use; `t0` is the object.
    private var aliasCount = 1

    /// The maximum nesting of parentheses in a condition, because parsers have small stacks.
    static let maximumNesting = 25
    /// The nesting that a subselect counts as, because its keywords also use the parser's stack.
    static let nestingOfSelect = 5
    /// The maximum number of terms of one chain of AND or OR.
    static let termsPerChain = 16

    /// - Parameters:
    ///   - schema: The tables.
    ///   - request: The request, which must be compiled and without errors.
    ///   - entity: The entity of the request.
    init(schema: SQLSchema, request: FetchRequest, entity: ManagedObjectModel.Entity) {
        self.schema = schema
        looksAtAll = request.fetchLimit == nil && request.predicate?.conjuncts.count == 1
        object = SQLRow(alias: "t0", key: "t0._id", entity: entity, level: 0)
    }

    var dialect: any SQLDialect { schema.dialect }

    /// Translates the conjuncts of a predicate that SQL can evaluate.
    ///
    /// The result also contains the conjuncts that SQL cannot evaluate.
    mutating func conditions(_ predicate: FetchRequest.Predicate?) -> SQLConditions {
        let conjuncts = predicate?.conjuncts ?? []
        // Databases check conditions in the order of the statement, so the cheapest conditions come
        // first.
        var (plain, others): ([String], [String]) = ([], [])
        var ranges: [(column: String, ends: SQLRange.Ends, condition: String, predicate: FetchRequest.Predicate)] = []
        var isLookup = false
        var result = SQLConditions()
        if let search = searchedText.flatMap({ foldedSearch($0) }) { plain.append("t0._id IN (\(search))") }
        for conjunct in conjuncts {
            let before = self
            if plain.count + others.count < Self.termsPerChain, let condition = condition(conjunct, nesting: 2),
                values.count <= dialect.maximumParameterCount - 8
            {
                result.pushed.append(conjunct)
                switch search(conjunct) {
                case .range(let column, let ends): ranges.append((column, ends, condition, conjunct))
                case .lookup: isLookup = true
                case nil: break
                }
                if conjuncts.count > 1, comparesNumbers(conjunct) {
                    plain.append(condition)
                } else {
                    others.append(condition)
                }
            } else {
                self = before
                result.rest.append(conjunct)
                if plain.count + others.count < Self.termsPerChain, let candidates = candidates(conjunct),
                    values.count <= dialect.maximumParameterCount - 8
                {
                    others.append(candidates)
                } else {
                    self = before
                }
            }
        }
        result.terms = plain + others
        if !isLookup, searchedText == nil, let column = ranges.first?.column {
            let parts = ranges.filter { $0.column == column }
            result.range = SQLRange(
                conditions: parts.map(\.condition), predicate: .and(parts.map(\.predicate)),
                ends: parts.reduce(into: []) { $0.formUnion($1.ends) })
        }
        return result
    }

    /// Returns whether an index finds the rows of a predicate by given values or objects.
    func isLookup(_ predicate: FetchRequest.Predicate) -> Bool {
        if case .lookup = search(predicate) { true } else { false }
    }

    /// Returns whether a predicate is a range of an index.
    func isRange(_ predicate: FetchRequest.Predicate) -> Bool {
        if case .range = search(predicate) { true } else { false }
    }

    /// The search in an index of the object's own table that finds the rows of a condition.
    private enum Search {
        /// A range of an index that begins with the given column.
        case range(String, SQLRange.Ends)
        /// A look-up of given values or given objects.
        case lookup
    }

    /// Returns the index search for a predicate; nil if no index finds its rows.
    private func search(_ predicate: FetchRequest.Predicate) -> Search? {
        guard case .comparison(let comparison) = predicate, comparison.modifier == .direct, comparison.isSearch else {
            return nil
        }
        guard case .keyPath(let path) = comparison.left,
            let field = object.entity.layout.field(path.joined(separator: "."))
        else { return comparison.left == .evaluatedObject ? .lookup : nil }
        let number = object.entity.number
        guard let column = schema.table(of: number).column(field, of: number),
            schema.indexedColumns[schema.tableOfEntity[number]].contains(column)
        else { return nil }
        switch comparison.operator {
        case .equal, .isIn: return .lookup
        case .less, .lessOrEqual: return .range(column, .upper)
        case .greater, .greaterOrEqual: return .range(column, .lower)
        default: return .range(column, [.lower, .upper])
        }
    }

    /// Returns whether a predicate compares a field that is stored as a number, by an operator
    /// other than IN.
    private func comparesNumbers(_ predicate: FetchRequest.Predicate) -> Bool {
        guard case .comparison(let comparison) = predicate, comparison.operator != .isIn,
            case .keyPath(let path) = comparison.left,
            let field = object.entity.layout.field(path.joined(separator: "."))
        else { return false }
        return !field.kind.isVariable && field.kind != .uuid && field.kind != .decimal
    }

    // MARK: Parts of statements

    mutating func bind(_ value: SQLValue) -> String {
        values.append(value)
        return dialect.parameter(values.count)
    }

    /// Returns a unique alias for a row of a table.
    mutating func alias() -> String {
        defer { aliasCount += 1 }
        return "t\(aliasCount)"
    }

    // MARK: Conditions

    mutating func condition(_ predicate: FetchRequest.Predicate, nesting: Int) -> String? {
        guard nesting < Self.maximumNesting else { return nil }
        switch predicate {
        case .constant(let truth): return truth ? "TRUE" : "FALSE"
        case .comparison(let comparison): return self.comparison(comparison, nesting: nesting)
        case .not(let member):
            return condition(member, nesting: nesting + 2).map { "(NOT COALESCE(\($0), FALSE))" }
        case .and(let members): return join(members, word: "AND", empty: "TRUE", nesting: nesting)
        case .or(let members): return join(members, word: "OR", empty: "FALSE", nesting: nesting)
        }
    }

    private mutating func join(
        _ members: [FetchRequest.Predicate], word: String, empty: String, nesting: Int
    ) -> String? {
        guard !members.isEmpty else { return empty }
        var terms: [String] = []
        // ``chain(_:word:)`` adds at most four levels of parentheses, because a statement has fewer
        // than 16^4 parameters.
        for member in members {
            guard let term = condition(member, nesting: nesting + 5), values.count <= dialect.maximumParameterCount
            else {
                return nil
            }
            terms.append(term)
        }
        return Self.chain(terms, word: word)
    }

    /// Joins terms in nested groups, so that many terms need neither a deep parser stack nor a deep
    /// expression.
    static func chain(_ terms: [String], word: String) -> String {
        var terms = terms
        while terms.count > termsPerChain {
            terms = stride(from: 0, to: terms.count, by: termsPerChain).map { start in
                "(" + terms[start..<min(terms.count, start + termsPerChain)].joined(separator: " \(word) ") + ")"
            }
        }
        return "(" + terms.joined(separator: " \(word) ") + ")"
    }
}

/// A range of an index.
struct SQLRange {
    struct Ends: OptionSet {
        let rawValue: Int
        static let lower = Self(rawValue: 1)
        static let upper = Self(rawValue: 2)
    }

    /// The conditions that form the range.
    let conditions: [String]
    /// The predicate that the conditions express.
    let predicate: FetchRequest.Predicate
    /// The bounds of the range.
    ///
    /// A range with only one bound can contain most of the index.
    let ends: Ends
}

/// The parts of a predicate inside and outside a statement.
struct SQLConditions {
    /// The conditions that all matching rows meet, including necessary conditions of conjuncts in
    /// ``rest``.
    var terms: [String] = []
    /// The range of an index that finds the rows; nil if a look-up or a text search finds fewer
    /// rows.
    var range: SQLRange?
    /// The conjuncts that the conditions express.
    var pushed: [FetchRequest.Predicate] = []
    /// The conjuncts that must be checked on the rows found.
    var rest: [FetchRequest.Predicate] = []
}

/// A row that a condition reads: that of the object, of a variable, or at the end of a path.
struct SQLRow {
    /// The row's alias in the statement.
    let alias: String
    /// The expression for the row's key, which may be known without reading the row; null if a path
    /// ended early.
    var key: String
    /// The entity of the row.
    ///
    /// The row may also be of a subentity.
    let entity: ManagedObjectModel.Entity
    /// The SELECT that contains the row, as a position in ``SQLPredicateTranslator/levels``.
    let level: Int
    /// The JOIN that adds the row to its SELECT when more than the key is needed; nil if no JOIN is
    /// required.
    var join: String?
}

/// The additional tables of a SELECT.
struct SQLLevel {
    /// The JOINs, in an order in which each JOIN refers only to earlier JOINs.
    private(set) var joins = ""
    /// The destination rows of to-one relationships, by the alias of the source row and the number
    /// of the relationship.
    var rows: [String: SQLRow] = [:]
    /// The aliases that are already joined.
    private var joined: Set<String> = []

    /// The maximum number of tables in a SELECT, because databases have limits.
    private static let maximumTableCount = 16

    /// Adds the JOIN of a row, if the row requires a JOIN that was not added yet.
    ///
    /// Returns false if the SELECT then has too many tables.
    mutating func read(_ row: SQLRow) -> Bool {
        guard let join = row.join, joined.insert(row.alias).inserted else { return true }
        joins += join
        return joined.count < Self.maximumTableCount
    }
}
