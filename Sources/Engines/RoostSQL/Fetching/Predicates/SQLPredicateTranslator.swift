internal import RoostCore
internal import RoostQuery

/// Says in SQL what of a predicate SQL can say without changing an answer; the rest is left to
/// ``RecordFilter``.
///
/// A condition is translated for a place where null counts as false, which is so in WHERE; below
/// NOT, null is made false first. Values are always parameters. Numbers of entities are the only
/// literals.
///
/// The request's object is the row `t0`. A path through to-one relationships is a LEFT JOIN, whose
/// columns are null where the path ends early; a to-many relationship is a subselect.
struct SQLPredicateTranslator {
    let schema: SQLSchema
    /// The row of the object that is asked about.
    let object: SQLRow
    /// The parameters' values so far.
    private(set) var values: [SQLValue] = []
    /// The tables that each SELECT reads besides its first one; the request's SELECT comes first.
    var levels = [SQLLevel()]
    /// The rows that variables stand for.
    var variables: [String: SQLRow] = [:]
    /// The outermost SELECT whose rows were looked at since this was last set.
    var lowestLevel = Int.max
    /// Whether all objects are looked at: nothing else narrows them down, and none can be enough
    /// before the end.
    let looksAtAll: Bool
    /// The number of aliases given out; `t0` is the object.
    private var aliasCount = 1

    /// The maximum nesting of parentheses in a condition: parsers have small stacks.
    static let maximumNesting = 25
    /// The levels of nesting that a subselect counts as: its keywords are on the parser's stack,
    /// too.
    static let nestingOfSelect = 5
    /// The most terms of one chain of AND or OR.
    static let termsPerChain = 16

    /// - Parameters:
    ///   - schema: The tables.
    ///   - request: The request; compiled before, so that it is without errors.
    ///   - entity: Its entity.
    init(schema: SQLSchema, request: FetchRequest, entity: ManagedObjectModel.Entity) {
        self.schema = schema
        looksAtAll = request.fetchLimit == nil && request.predicate?.conjuncts.count == 1
        object = SQLRow(alias: "t0", key: "t0._id", entity: entity, level: 0)
    }

    var dialect: any SQLDialect { schema.dialect }

    /// Adds the conditions of the parts of a predicate that SQL can say; the others are the rest.
    mutating func conditions(_ predicate: FetchRequest.Predicate?) -> SQLConditions {
        let conjuncts = predicate?.conjuncts ?? []
        // Databases check conditions in the order of the statement, so the cheapest come first.
        var (plain, others): ([String], [String]) = ([], [])
        var ranges: [(column: String, ends: SQLRange.Ends, condition: String, predicate: FetchRequest.Predicate)] = []
        var isLookup = false
        var result = SQLConditions()
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
            }
        }
        result.terms = plain + others
        if !isLookup, let column = ranges.first?.column {
            let parts = ranges.filter { $0.column == column }
            result.range = SQLRange(
                conditions: parts.map(\.condition), predicate: .and(parts.map(\.predicate)),
                ends: parts.reduce(into: []) { $0.formUnion($1.ends) })
        }
        return result
    }

    /// The way in which an index of the object's own table finds the rows of a condition.
    private enum Search {
        /// A part of an index that this column leads.
        case range(String, SQLRange.Ends)
        /// Given values, or given objects.
        case lookup
    }

    /// Nil where no index does.
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

    /// Whether a predicate compares a field of the object that is a number with a constant.
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

    /// A name for a row of a table, which no other row of the statement has.
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
        // The chains of chains below use up to four levels. 16^4 terms are more than a statement
        // has parameters.
        for member in members {
            guard let term = condition(member, nesting: nesting + 5), values.count <= dialect.maximumParameterCount
            else {
                return nil
            }
            terms.append(term)
        }
        return Self.chain(terms, word: word)
    }

    /// Joins terms so that neither the parser's stack nor the depth of the expression grows with
    /// their number.
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

/// A part of an index.
struct SQLRange {
    struct Ends: OptionSet {
        let rawValue: Int
        static let lower = Self(rawValue: 1)
        static let upper = Self(rawValue: 2)
    }

    /// The conditions that are true for it.
    let conditions: [String]
    /// The predicate that they express.
    let predicate: FetchRequest.Predicate
    /// The ends that it has: with one only it may be anything from nothing to all.
    let ends: Ends
}

/// The parts of a predicate inside and outside a statement.
struct SQLConditions {
    /// The conditions that every wanted row meets.
    var terms: [String] = []
    /// Those of them that are true for a part of an index, if nothing finds the rows more closely.
    var range: SQLRange?
    /// The parts of the predicate that they say.
    var pushed: [FetchRequest.Predicate] = []
    /// The parts of the predicate that must be checked on the rows that are found.
    var rest: [FetchRequest.Predicate] = []
}

/// A row that a condition looks at: the object's, a variable's, or the one at the end of a path.
struct SQLRow {
    /// The row's alias in the statement.
    let alias: String
    /// The expression for its key, which may be had without the row; null where a path ended early.
    var key: String
    /// The entity that the row is known to be of, or a subentity of.
    let entity: ManagedObjectModel.Entity
    /// The SELECT that it is in, as a position in ``SQLPredicateTranslator/levels``.
    let level: Int
    /// The JOIN that adds the row to its SELECT once more than its key is needed; nil if not
    /// needed.
    var join: String?
}

/// The tables that a SELECT reads besides its first one.
struct SQLLevel {
    /// The JOINs, in an order in which each refers only to earlier ones.
    private(set) var joins = ""
    /// The destination rows of to-one relationships, by the alias they start from and the number of
    /// the relationship.
    var rows: [String: SQLRow] = [:]
    /// The aliases that were joined.
    private var joined: Set<String> = []

    /// The maximum number of tables in a SELECT; databases have limits.
    private static let maximumTableCount = 16

    /// Makes sure that a row is read; false when there are too many.
    mutating func read(_ row: SQLRow) -> Bool {
        guard let join = row.join, joined.insert(row.alias).inserted else { return true }
        joins += join
        return joined.count < Self.maximumTableCount
    }
}
