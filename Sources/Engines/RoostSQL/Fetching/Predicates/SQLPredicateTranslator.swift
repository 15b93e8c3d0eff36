internal import RoostCore
internal import RoostQuery

/// A translator of the parts of a predicate that SQL can evaluate as the engine does.
///
/// ``RecordFilter`` evaluates the rest.
///
/// Conditions are for a context in which null counts as false, such as WHERE. NOT first converts a
/// null operand to false. Values are always parameters; only entity numbers are literals.
///
/// The request's object is the row `t0`. A path through to-one relationships is a LEFT JOIN, whose
/// columns are null if the path ends early. A to-many relationship is a subselect.
struct SQLPredicateTranslator {
    let schema: SQLSchema
    let object: SQLRow
    private(set) var values: [SQLValue] = []
    /// The additional tables of each SELECT; the request's SELECT comes first.
    var levels = [SQLLevel()]
    var variables: [String: SQLRow] = [:]
    /// The level of the outermost SELECT whose rows were read since this property was reset.
    var lowestLevel = Int.max
    /// Whether all objects must be examined: there is one condition, and no limit ends the fetch
    /// early.
    let looksAtAll: Bool
    /// A folded comparison whose rows are found by ranges of an index.
    var searchedText: FetchRequest.Predicate?
    /// The number of aliases in use.
    private var aliasCount = 1

    /// The maximum nesting of parentheses in a condition, because parsers have small stacks.
    static let maximumNesting = 25
    /// The nesting levels that a subselect adds, because its keywords also use the parser's stack.
    static let nestingOfSelect = 5
    /// The maximum number of terms in a group of AND or OR.
    static let termsPerChain = 16

    /// `request` must be compiled and without errors.
    init(schema: SQLSchema, request: FetchRequest, entity: ManagedObjectModel.Entity) {
        self.schema = schema
        looksAtAll = request.fetchLimit == nil && request.predicate?.conjuncts.count == 1
        object = SQLRow(alias: "t0", key: "t0._id", entity: entity, level: 0)
    }

    var dialect: any SQLDialect { schema.dialect }

    /// Translates the conjuncts that SQL can evaluate, and also returns the others.
    mutating func conditions(_ predicate: FetchRequest.Predicate?) -> SQLConditions {
        let conjuncts = predicate?.conjuncts ?? []
        // Databases check conditions in the order of the statement, so the cheapest come first.
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

    /// Returns whether an index finds a predicate's rows by given values or objects.
    func isLookup(_ predicate: FetchRequest.Predicate) -> Bool {
        if case .lookup = search(predicate) { true } else { false }
    }

    func isRange(_ predicate: FetchRequest.Predicate) -> Bool {
        if case .range = search(predicate) { true } else { false }
    }

    /// An index search in the object's own table.
    private enum Search {
        /// A range of an index that begins with the given column.
        case range(String, SQLRange.Ends)
        case lookup
    }

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

    /// Returns whether a predicate, other than IN, compares a field that is stored as a number.
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
        // ``chain(_:word:)`` adds at most four levels of parentheses: a statement has fewer than 16^4 parameters.
        for member in members {
            guard let term = condition(member, nesting: nesting + 5), values.count <= dialect.maximumParameterCount
            else {
                return nil
            }
            terms.append(term)
        }
        return Self.chain(terms, word: word)
    }

    /// Joins terms in nested groups, so that many terms need no deep stack in the parser.
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

    let conditions: [String]
    /// The predicate that the conditions express.
    let predicate: FetchRequest.Predicate
    /// The bounds; a range with only one bound can contain most of the index.
    let ends: Ends
}

struct SQLConditions {
    /// The conditions that all matching rows meet, including necessary conditions of ``rest``.
    var terms: [String] = []
    /// The index range that finds the rows; nil if a look-up or a text search finds fewer.
    var range: SQLRange?
    /// The conjuncts that the conditions express.
    var pushed: [FetchRequest.Predicate] = []
    /// The conjuncts to check on the rows found.
    var rest: [FetchRequest.Predicate] = []
}

/// The row of the object, of a variable, or at the end of a path.
struct SQLRow {
    let alias: String
    /// The expression for the row's key; null if a path ended early.
    ///
    /// The key may be known without reading the row.
    var key: String
    /// The row's entity, or a superentity.
    let entity: ManagedObjectModel.Entity
    /// The position of the row's SELECT in ``SQLPredicateTranslator/levels``.
    let level: Int
    /// The JOIN that adds the row to its SELECT if more than the key is needed.
    var join: String?
}

struct SQLLevel {
    /// The JOINs; each refers only to earlier JOINs.
    private(set) var joins = ""
    /// The destination rows of to-one relationships, by source alias and relationship number.
    var rows: [String: SQLRow] = [:]
    private var joined: Set<String> = []

    /// The maximum number of tables in a SELECT, because databases have limits.
    private static let maximumTableCount = 16

    /// Adds a row's JOIN if necessary; returns false if the SELECT has too many tables.
    mutating func read(_ row: SQLRow) -> Bool {
        guard let join = row.join, joined.insert(row.alias).inserted else { return true }
        joins += join
        return joined.count < Self.maximumTableCount
    }
}
