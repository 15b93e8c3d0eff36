internal import RoostCore
internal import RoostQuery

/// A SELECT of the rows at the end of a path through a to-many relationship.
struct SQLCollection {
    /// The SELECT's position in ``SQLPredicateTranslator/levels``.
    var level: Int
    var table: String
    /// The relation of the rows to the start of the path, or to the last stage if there are stages.
    var origin: SQLOrigin
    /// SELECTs for the beginning of the path.
    ///
    /// Each returns the objects from which the next SELECT starts, each object once. A single
    /// SELECT would have a row for each route along the path.
    var stages: [SQLStage] = []
    /// Whether an object may occur in several rows.
    var repeats = false
    var conditions: [String] = []
    var isFree = true
    /// The row of an element, or of the object whose attribute value is the element.
    var row: SQLRow
    var element: SQLTerm
}

/// A SELECT of the objects at the end of a part of a path.
struct SQLStage {
    let level: Int
    let table: String
    let origin: SQLOrigin
    let conditions: [String]
}

/// The relation between a to-many relationship's rows and its source object.
struct SQLOrigin {
    /// The expression for the source object's key.
    let key: String
    /// The column of the rows that contains this key; nil if two columns can contain it.
    let row: String?
    /// Turns a condition on the key, `= key` or `IN (SELECT …)`, into a condition on the rows.
    let condition: (String) -> String

    var ofKey: String { condition("= \(key)") }
}

extension SQLPredicateTranslator {
    // MARK: Values

    /// Translates an expression with a single value.
    mutating func operand(_ expression: FetchRequest.Expression, nesting: Int) -> SQLOperand? {
        switch expression {
        case .constant(let value): return .constant(value)
        case .evaluatedObject: return .term(key(of: object))
        case .variable(let name): return variables[name].map { .term(key(of: $0)) }
        case .keyPath, .path:
            if let (row, path) = resolve(expression), !path.isCollection {
                guard let collectionOperator = path.collectionOperator else {
                    return self.row(at: path, from: row).flatMap { end(of: path, at: $0) }.map { .term($0) }
                }
                return open(path, from: row, repetition: collectionOperator.repetition(nesting))
                    .flatMap { aggregate(collectionOperator, of: $0) }.map { .term($0) }
            }
            guard case .path(let base, let names) = expression, let (path, collectionOperator) = isAggregate(names),
                var collection = open(base, nesting: nesting, repetition: collectionOperator.repetition(nesting)),
                extend(&collection, names: path, repetition: collectionOperator.repetition(nesting))
            else { return nil }
            return aggregate(collectionOperator, of: collection).map { .term($0) }
        case .function(.count, let arguments) where arguments.count == 1 && isCollection(arguments[0]) != nil:
            return open(arguments[0], nesting: nesting, repetition: .everyWay).flatMap { aggregate(.count, of: $0) }
                .map { .term($0) }
        case .element(let list, .size) where isCollection(list) != nil:
            return open(list, nesting: nesting, repetition: .everyWay).flatMap { aggregate(.count, of: $0) }.map {
                .term($0)
            }
        default: return nil
        }
    }

    /// Returns a path from the object or a variable, and the row of its start.
    private func resolve(_ expression: FetchRequest.Expression) -> (row: SQLRow, path: ResolvedPath)? {
        let (row, names): (SQLRow, [String])
        switch expression {
        case .keyPath(let path), .path(.evaluatedObject, let path): (row, names) = (object, path)
        case .path(.variable(let name), let path):
            guard let bound = variables[name] else { return nil }
            (row, names) = (bound, path)
        default: return nil
        }
        return (try? ResolvedPath(names, from: row.entity.number, model: schema.model)).map { (row, $0) }
    }

    /// Returns the row at the end of a path; nil if a relationship is to-many or cannot be joined.
    private mutating func row(at path: ResolvedPath, from start: SQLRow) -> SQLRow? {
        var row = start
        for relationship in path.relationships {
            guard !relationship.isToMany, let next = destination(of: relationship, from: row) else { return nil }
            row = next
        }
        return row
    }

    private mutating func destination(
        of relationship: ManagedObjectModel.Relationship, from row: SQLRow
    ) -> SQLRow? {
        let name = "\(row.alias) \(relationship.number)"
        if let known = levels[row.level].rows[name] { return known }
        let entity = schema.model.entities[relationship.destination]
        guard let field = row.entity.layout.field(relationship.name.name), let key = column(field, of: row) else {
            return nil
        }
        let alias = alias()
        let table = schema.table(of: entity.number)
        let next = SQLRow(
            alias: alias, key: key, entity: entity, level: row.level,
            join: " LEFT JOIN \(table.quotedName) AS \(alias) ON \(alias)._id = \(key)")
        levels[row.level].rows[name] = next
        return next
    }

    private mutating func end(of path: ResolvedPath, at row: SQLRow) -> SQLTerm? {
        switch path.end {
        case .object: key(of: row)
        case .field(let field): term(field, of: row)
        }
    }

    private mutating func key(of row: SQLRow) -> SQLTerm {
        lowestLevel = min(lowestLevel, row.level)
        return SQLTerm(sql: row.key, kind: .reference, root: row.entity.root, isIndexed: true)
    }

    private mutating func term(_ field: RecordLayout.Field, of row: SQLRow) -> SQLTerm? {
        guard let column = column(field, of: row) else { return nil }
        let entityColumn =
            field.kind == .objectID
            ? schema.table(of: row.entity.number).entityColumn(field, of: row.entity.number) : nil
        return SQLTerm(
            sql: column, kind: field.kind, entitySQL: entityColumn.map { "\(row.alias).\($0)" },
            root: field.destination.map { schema.model.entities[$0].root }, isIndexed: isIndexed(field, of: row.entity))
    }

    private func isIndexed(_ field: RecordLayout.Field, of entity: ManagedObjectModel.Entity) -> Bool {
        schema.table(of: entity.number).column(field, of: entity.number).map {
            schema.indexedColumns[schema.tableOfEntity[entity.number]].contains($0)
        } ?? false
    }

    private mutating func column(_ field: RecordLayout.Field, of row: SQLRow) -> String? {
        guard let column = schema.table(of: row.entity.number).column(field, of: row.entity.number),
            levels[row.level].read(row)
        else { return nil }
        lowestLevel = min(lowestLevel, row.level)
        return "\(row.alias).\(column)"
    }

    // MARK: Collections

    /// Returns the expression itself if a SELECT can return its many values, otherwise nil.
    func isCollection(_ expression: FetchRequest.Expression) -> FetchRequest.Expression? {
        switch expression {
        case .subquery: return expression
        case .path(.subquery, let names): return names.contains { $0.hasPrefix("@") } ? nil : expression
        default: return resolve(expression).flatMap { $0.path.isCollection ? expression : nil }
        }
    }

    private mutating func open(
        _ expression: FetchRequest.Expression, nesting: Int, repetition: SQLRepetition
    ) -> SQLCollection? {
        switch expression {
        case .subquery(let elements, let variable, let predicate):
            guard var collection = open(elements, nesting: nesting, repetition: repetition),
                collection.element.sql == collection.row.key
            else { return nil }
            let outer = variables[variable]
            variables[variable] = collection.row
            let condition = inside(&collection) { $0.condition(predicate, nesting: nesting + Self.nestingOfSelect) }
            variables[variable] = outer
            guard let condition else { return nil }
            collection.conditions.append(condition)
            return collection
        case .path(let base, let names) where isCollection(base) != nil:
            guard var collection = open(base, nesting: nesting, repetition: repetition),
                extend(&collection, names: names, repetition: repetition)
            else { return nil }
            return collection
        default:
            guard let (row, path) = resolve(expression), path.isCollection, path.collectionOperator == nil else {
                return nil
            }
            return open(path, from: row, repetition: repetition)
        }
    }

    /// Translates a condition, and records whether it reads rows outside the collection.
    private mutating func inside(
        _ collection: inout SQLCollection, _ translate: (inout Self) -> String?
    ) -> String? {
        let before = lowestLevel
        lowestLevel = .max
        let condition = translate(&self)
        collection.isFree = collection.isFree && lowestLevel >= collection.level
        lowestLevel = min(lowestLevel, before)
        return condition
    }

    /// Starts a SELECT of the rows at the end of a path through a to-many relationship.
    ///
    /// A null reference after the last to-many relationship makes the element null. An earlier null
    /// reference gives no element.
    private mutating func open(
        _ path: ResolvedPath, from start: SQLRow, repetition: SQLRepetition
    ) -> SQLCollection? {
        var row = start
        var rest = path.relationships[...]
        while let relationship = rest.first, !relationship.isToMany {
            guard let next = destination(of: relationship, from: row) else { return nil }
            row = next
            rest = rest.dropFirst()
        }
        guard let first = rest.first else { return nil }
        levels.append(SQLLevel())
        guard let hop = hop(first, from: row, level: levels.count - 1) else { return nil }
        var collection = SQLCollection(
            level: levels.count - 1, table: hop.table, origin: hop.origin, row: hop.row, element: key(of: hop.row))
        guard extend(&collection, along: rest.dropFirst(), repetition: repetition),
            let element = end(of: path, at: collection.row)
        else {
            return nil
        }
        collection.element = element
        return collection
    }

    private mutating func extend(
        _ collection: inout SQLCollection, names: [String], repetition: SQLRepetition
    ) -> Bool {
        guard collection.element.sql == collection.row.key,
            let path = try? ResolvedPath(names, from: collection.row.entity.number, model: schema.model),
            path.collectionOperator == nil, extend(&collection, along: path.relationships[...], repetition: repetition),
            let element = end(of: path, at: collection.row)
        else { return false }
        collection.element = element
        return true
    }

    private mutating func extend(
        _ collection: inout SQLCollection, along relationships: ArraySlice<ManagedObjectModel.Relationship>,
        repetition: SQLRepetition
    ) -> Bool {
        for relationship in relationships {
            defer { collection.repeats = true }
            guard relationship.isToMany else {
                guard let next = destination(of: relationship, from: collection.row) else { return false }
                collection.row = next
                continue
            }
            if collection.repeats, case .once(let nesting) = repetition {
                guard nesting + (collection.stages.count + 1) * Self.nestingOfSelect < Self.maximumNesting,
                    begin(relationship, after: &collection)
                else { return false }
                continue
            }
            guard let hop = hop(relationship, from: collection.row, level: collection.level) else { return false }
            let first = SQLRow(
                alias: hop.alias, key: "", entity: hop.row.entity, level: collection.level,
                join: " JOIN \(hop.table) ON \(hop.origin.ofKey)")
            guard levels[collection.level].read(first) else { return false }
            collection.row = hop.row
        }
        return true
    }

    /// Turns the collection into a stage, and continues along a relationship in a new SELECT.
    private mutating func begin(
        _ relationship: ManagedObjectModel.Relationship, after collection: inout SQLCollection
    ) -> Bool {
        levels.append(SQLLevel())
        let level = levels.count - 1
        guard let hop = hop(relationship, from: collection.row, level: level) else { return false }
        collection.stages.append(
            SQLStage(
                level: collection.level, table: collection.table, origin: collection.origin,
                conditions: collection.conditions))
        (collection.level, collection.table, collection.origin) = (level, hop.table, hop.origin)
        (collection.conditions, collection.row) = ([], hop.row)
        return true
    }

    /// A step along a to-many relationship.
    private struct Hop {
        let table: String
        let alias: String
        let origin: SQLOrigin
        let row: SQLRow
    }

    private mutating func hop(
        _ relationship: ManagedObjectModel.Relationship, from row: SQLRow, level: Int
    ) -> Hop? {
        let model = schema.model
        let entity = model.entities[relationship.destination]
        let table = schema.table(of: entity.number).quotedName
        lowestLevel = min(lowestLevel, row.level)
        let alias = alias()
        switch relationship.storage {
        case .field: return nil
        case .derived(let inverse):
            let inverse = model.relationships[inverse]
            guard let field = model.entities[inverse.source].layout.field(inverse.name.name),
                let column = schema.table(of: inverse.source).column(field, of: inverse.source)
            else { return nil }
            var start = row
            if row.join != nil {
                // A to-one relationship can refer to a missing object, which has no related objects, even if other
                // objects refer to it.
                guard levels[row.level].read(row) else { return nil }
                start.key = "\(row.alias)._id"
            }
            return Hop(
                table: "\(table) AS \(alias)", alias: alias, origin: Self.origin("\(alias).\(column)", row: start),
                row: SQLRow(alias: alias, key: "\(alias)._id", entity: entity, level: level))
        case .links(let owner, let isFlipped):
            guard let links = schema.linkTables[owner] else { return nil }
            if relationship.isReflexive {
                // Each pair is stored once, in either direction.
                let name = links.quotedName
                let origin = SQLOrigin(key: row.key, row: nil) { key in
                    "\(alias)._id IN (SELECT target FROM \(name) WHERE source \(key) UNION ALL SELECT source FROM \(name) WHERE target \(key))"
                }
                return Hop(
                    table: "\(table) AS \(alias)", alias: alias, origin: origin,
                    row: SQLRow(alias: alias, key: "\(alias)._id", entity: entity, level: level))
            }
            let columns = SQLLinkColumns(isFlipped: isFlipped)
            let target = "\(alias).\(columns.target)"
            let end = self.alias()
            return Hop(
                table: "\(links.quotedName) AS \(alias)", alias: alias,
                origin: Self.origin("\(alias).\(columns.source)", row: row),
                row: SQLRow(
                    alias: end, key: target, entity: entity, level: level,
                    join: " JOIN \(table) AS \(end) ON \(end)._id = \(target)"))
        }
    }

    private static func origin(_ column: String, row: SQLRow) -> SQLOrigin {
        SQLOrigin(key: row.key, row: column) { "\(column) \($0)" }
    }

    /// Returns a SELECT of an expression from a collection's rows that meet additional conditions.
    private func select(_ what: String, collection: SQLCollection, and more: [String] = []) -> String {
        // Each SELECT starts from the keys of the preceding SELECT.
        var origin: String?
        for (stage, next) in zip(
            collection.stages, collection.stages.dropFirst().map(\.origin) + [collection.origin])
        {
            let keys = select(
                next.key, from: stage.table, level: stage.level,
                conditions: [origin ?? stage.origin.ofKey] + stage.conditions)
            origin = next.condition("IN (\(keys))")
        }
        return select(
            what, from: collection.table, level: collection.level,
            conditions: [origin ?? collection.origin.ofKey] + collection.conditions + more)
    }

    private func select(_ what: String, from table: String, level: Int, conditions: [String]) -> String {
        "SELECT \(what) FROM \(table)\(levels[level].joins)" + SQLFetchStatement.words(conditions)
    }

    // MARK: Conditions on collections

    /// Translates ANY and ALL.
    mutating func quantified(_ comparison: FetchRequest.Comparison, nesting: Int) -> String? {
        guard isCollection(comparison.left) != nil,
            var collection = open(comparison.left, nesting: nesting, repetition: .once(nesting: nesting))
        else { return nil }
        var direct = comparison
        direct.modifier = .direct
        let nesting = nesting + (collection.stages.count + 1) * Self.nestingOfSelect
        let element = collection.element
        guard nesting < Self.maximumNesting,
            let leaf = inside(&collection, { $0.compare(.term(element), comparison: direct, nesting: nesting) })
        else { return nil }
        if comparison.modifier == .all {
            return "(NOT EXISTS (\(select("1", collection: collection, and: ["NOT COALESCE(\(leaf), FALSE)"]))))"
        }
        collection.conditions.append(leaf)
        return exists(collection, isSearch: element.isIndexed && direct.isSearch)
    }

    /// Returns the condition that a collection has a row.
    ///
    /// For few objects, a look-up of rows for each object is best. For all objects, or with an
    /// index, it is cheaper to find the matching rows once.
    private func exists(_ collection: SQLCollection, isSearch: Bool = false) -> String {
        guard looksAtAll || isSearch, let found = found(collection) else {
            return "EXISTS (\(select("1", collection: collection)))"
        }
        return "\(found))"
    }

    /// Returns `key IN (SELECT …` for objects with a matching row, without the last parenthesis.
    ///
    /// Returns nil if one SELECT cannot find the rows for all objects.
    private func found(_ collection: SQLCollection) -> String? {
        guard collection.isFree, !collection.conditions.isEmpty, let row = collection.origin.row else { return nil }
        // Each SELECT contains the SELECT of the path's following part, and returns the keys of source objects.
        var key = collection.origin.key
        var found = select(row, from: collection.table, level: collection.level, conditions: collection.conditions)
        for stage in collection.stages.reversed() {
            guard let row = stage.origin.row else { return nil }
            found = select(
                row, from: stage.table, level: stage.level, conditions: stage.conditions + ["\(key) IN (\(found))"])
            key = stage.origin.key
        }
        return "\(key) IN (\(found)"
    }

    mutating func contains(
        _ elements: FetchRequest.Expression, value: FetchRequest.Expression,
        options: FetchRequest.Comparison.Options, nesting: Int
    ) -> String? {
        quantified(
            .init(left: elements, operator: .equal, right: value, modifier: .any, options: options), nesting: nesting)
    }

    /// Translates a comparison of a count with a number, if possible without counting for each
    /// object.
    mutating func counting(_ comparison: FetchRequest.Comparison, nesting: Int) -> String? {
        guard let elements = counted(comparison.left), case .constant(.int(let number)) = comparison.right else {
            return nil
        }
        let before = self
        let isOne: Bool?
        switch (comparison.operator, number) {
        case (.greater, 0), (.greaterOrEqual, 1), (.notEqual, 0): isOne = true
        case (.equal, 0), (.less, 1), (.lessOrEqual, 0): isOne = false
        default: isOne = nil
        }
        guard nesting + Self.nestingOfSelect < Self.maximumNesting,
            let collection = open(
                elements, nesting: nesting, repetition: isOne == nil ? .everyWay : .once(nesting: nesting))
        else { return nil }
        if let isOne {
            return isOne ? exists(collection) : "(NOT COALESCE(\(exists(collection)), FALSE))"
        }
        switch (comparison.operator, number) {
        case (.greater, 1...), (.greaterOrEqual, 2...), (.equal, 1...):
            // Only objects with at least one row can reach this count.
            if looksAtAll, let found = found(collection), let row = collection.origin.row {
                let count = "COUNT(*) \(comparison.operator.sqlWord) \(bind(.integer(number)))"
                return "\(found) GROUP BY \(dialect.withoutIndex(row)) HAVING \(count))"
            }
        default: break
        }
        self = before
        return nil
    }

    /// Returns the collection whose elements an expression counts.
    private func counted(_ expression: FetchRequest.Expression) -> FetchRequest.Expression? {
        let count = FetchRequest.CollectionOperator.count.rawValue
        switch expression {
        case .function(.count, let arguments) where arguments.count == 1: return isCollection(arguments[0])
        case .element(let list, .size): return isCollection(list)
        case .keyPath(let names) where names.last == count: return isCollection(.keyPath(names.dropLast()))
        case .path(let base, let names) where names.last == count:
            return isCollection(names.count == 1 ? base : .path(of: base, names.dropLast()))
        default: return nil
        }
    }

    /// Splits a path from a collection into the names and the operator.
    private func isAggregate(_ names: [String]) -> ([String], FetchRequest.CollectionOperator)? {
        guard let index = names.firstIndex(where: { $0.hasPrefix("@") }),
            let found = FetchRequest.CollectionOperator(rawValue: names[index])
        else { return nil }
        return (Array(names[..<index] + names[(index + 1)...]), found)
    }

    private func aggregate(_ collectionOperator: FetchRequest.CollectionOperator, of collection: SQLCollection)
        -> SQLTerm?
    {
        let element = collection.element
        switch collectionOperator {
        case .count: return SQLTerm(sql: "(\(select("COUNT(*)", collection: collection)))", kind: .integer64)
        case .minimum where hasExtremes(element):
            return SQLTerm(sql: "(\(select("MIN(\(element.sql))", collection: collection)))", kind: element.kind)
        case .maximum where hasExtremes(element):
            return SQLTerm(sql: "(\(select("MAX(\(element.sql))", collection: collection)))", kind: element.kind)
        case .sum where element.kind == .integer16 || element.kind == .integer32:
            // No table has enough rows for a sum of such integers to exceed 64 bits. A sum of 64-bit integers can
            // exceed 64 bits, and SQL then does not return an integer.
            return dialect.sum(element.sql).map { sum in
                SQLTerm(sql: "(\(select("COALESCE(\(sum), 0)", collection: collection)))", kind: .integer64)
            }
        default: return nil
        }
    }

    private func hasExtremes(_ element: SQLTerm) -> Bool {
        // Without a condition for NaN, the position of NaN in the database's order is unknown.
        element.kind.hasExtremes && (!element.kind.isFloating || dialect.isNoNaN(element.sql) != nil)
    }
}

/// The number of rows for an object that a path reaches by several routes.
enum SQLRepetition {
    /// One row for each route, for counts and sums.
    case everyWay
    /// One row for many routes where possible, for minimum, maximum or existence.
    ///
    /// `nesting` is the depth of the surrounding parentheses.
    case once(nesting: Int)
}

extension FetchRequest.CollectionOperator {
    fileprivate func repetition(_ nesting: Int) -> SQLRepetition {
        self == .minimum || self == .maximum ? .once(nesting: nesting) : .everyWay
    }
}

extension RecordLayout.Field.Kind {
    /// Whether MIN and MAX of a column are the minimum and maximum of its values.
    fileprivate var hasExtremes: Bool {
        switch self {
        case .integer64, .integer32, .integer16, .boolean, .double, .float, .date, .string, .uri: true
        default: false
        }
    }
}

extension FetchRequest.Comparison {
    /// Whether an index on the left side can find the matching objects by constant values.
    var isSearch: Bool {
        guard options.isEmpty || options == .normalized else { return false }
        switch (`operator`, right) {
        case (.equal, .constant(let value)): return !value.isNull
        case (.less, .constant), (.lessOrEqual, .constant), (.greater, .constant),
            (.greaterOrEqual, .constant), (.beginsWith, .constant):
            return true
        case (.isIn, .aggregate(let members)), (.between, .aggregate(let members)):
            return members.allSatisfy { if case .constant(let value) = $0 { !value.isNull } else { false } }
        default: return false
        }
    }
}
