internal import Roost
internal import RoostCore
internal import RoostQuery
internal import RoostText

/// One run of `roost fetch` on an open store.
final class StoreFetch {
    struct Details {
        /// The keys of `--id`.
        var keys: [Int64] = []
        /// The columns to print without `--select`, with their names in the output, or nil for all.
        var usual: [(column: String, name: String)]?
        /// The values for each `%@` in the predicate.
        var predicateArguments: [any PredicateArgument] = []
    }

    private let model: ManagedObjectModel
    private let snapshot: any StoreSnapshot
    /// The request, which selects the objects if `--id` is absent.
    let request: FetchRequest
    /// The keys of `--id`, or empty if ``request`` selects the objects.
    private let keys: [Int64]
    private let selection: [ListOption.Part]?
    private let columns: RecordColumns
    /// The names of the columns in the output, or nil for their own names.
    private let columnNames: [String]?
    /// The request for rows of values, or nil for objects.
    private let rows: RowRequest?
    private var missing: [Int64]

    /// Reads the arguments for a new snapshot of a store.
    ///
    /// - Throws: `UsageError`, and errors of names and predicates.
    convenience init(
        _ store: any PersistentStore, arguments: ParsedArguments, details: Details = Details()
    ) throws {
        let snapshot = try store.snapshot()
        do { try self.init(snapshot, arguments: arguments, details: details) } catch {
            snapshot.close()
            throw error
        }
    }

    /// Reads the arguments; the fetch closes the snapshot.
    ///
    /// - Throws: `UsageError`, and errors of names and predicates.
    init(_ snapshot: any StoreSnapshot, arguments: ParsedArguments, details: Details) throws {
        let (keys, usual, model) = (details.keys, details.usual, snapshot.model)
        self.model = model
        self.snapshot = snapshot
        self.keys = keys
        missing = keys
        let entity = try Self.entity(arguments.positions[1], model: model)
        var request = FetchRequest(
            entity.name,
            where: try Self.predicate(arguments, entity: entity.name, model: model, values: details.predicateArguments),
            limit: try arguments.integer("limit", minimum: 0), offset: try arguments.integer("offset", minimum: 0) ?? 0)
        let selection = try arguments.value("select").map {
            try ListOption($0, option: "select", takesNames: true).parts
        }
        let isGrouped = arguments.value("group-by") != nil
        let needsRows = RowOptions.isNeeded(arguments, columns: selection ?? [], entity: entity)
        let names = needsRows ? selection?.map { $0.name ?? $0.text } ?? [] : []
        request.sortDescriptors = try Self.order(
            arguments.value("sort"), entity: entity, model: model, columns: Set(names), isGrouped: isGrouped)
        if needsRows {
            guard keys.isEmpty else {
                throw UsageError("option '--id' prints objects; leave out expressions, groups and distinct rows")
            }
            rows = try RowOptions(arguments, columns: selection, fetch: request, entity: entity, model: model).request
        } else {
            rows = nil
        }
        (self.request, self.selection) = (request, selection)
        // Wrong names are errors even if only a count or a plan is printed.
        let chosen = needsRows ? nil : selection?.map(\.text) ?? usual?.map(\.column)
        columns = try RecordColumns(chosen, of: request.entity, model: model)
        columnNames = selection == nil ? usual?.map(\.name) : nil
    }

    deinit { snapshot.close() }

    // MARK: Arguments

    static func entity(_ name: String, model: ManagedObjectModel) throws -> ManagedObjectModel.Entity {
        if let entity = model.entities.first(where: { $0.name.text == name }) { return entity }
        let names = model.entities.map(\.name.text)
        let hint =
            nearestName(to: name, among: names).map { "did you mean '\($0)'?" }
            ?? "it has \(listed(names))"
        throw UsageError("the store's model has no entity '\(name)'; \(hint)")
    }

    static func predicate(
        _ arguments: ParsedArguments, entity: EntityName, model: ManagedObjectModel,
        values: [any PredicateArgument] = []
    ) throws -> FetchRequest.Predicate? {
        try arguments.value("where").map { (text) throws(StoreError) in
            try FetchRequest.Predicate(text, arguments: values, for: entity, model: model)
        }
    }

    /// Returns the order of `--sort`, without the object's key and the parts after the key.
    ///
    /// `columns` has the column names for rows, and is empty for objects. If `isGrouped` is true,
    /// `id` does not mean the key.
    ///
    /// - Throws: `UsageError`; `unknownProperty` for an unknown name after the key.
    static func order(
        _ text: String?, entity: ManagedObjectModel.Entity, model: ManagedObjectModel,
        columns: Set<String> = [], isGrouped: Bool = false
    ) throws -> [FetchRequest.SortDescriptor] {
        guard let text else { return [] }
        var order: [FetchRequest.SortDescriptor] = []
        var isDecided = false
        for part in try ListOption(text, option: "sort").parts.map(\.text) {
            if !columns.contains(part) { try refuseDirection(in: part) }
            // The name of a column can contain a hyphen or a modifier, so it is not parsed.
            let descriptor =
                columns.contains(part)
                ? FetchRequest.SortDescriptor(part) : FetchRequest.SortDescriptor(text: part, of: entity)
            let name = descriptor.key
            if name == "id", entity.layout.field(name) == nil, !columns.contains(name), !isGrouped {
                guard descriptor.isAscending else {
                    throw UsageError("option '--sort' cannot sort by id in descending order")
                }
                isDecided = true
            } else if !isDecided {
                order.append(descriptor)
            } else if !columns.contains(name) {
                // Keys are unique, so the parts after the key have no effect. Only their names are
                // checked.
                _ = try ResolvedPath(name.split(separator: ".").map(String.init), from: entity.number, model: model)
            }
        }
        return order
    }

    /// Refuses a direction in SQL syntax.
    private static func refuseDirection(in part: String) throws {
        let words = part.split(whereSeparator: \.isWhitespace).map(String.init)
        guard words.count == 2 else { return }
        switch words[1].uppercased() {
        case "DESC", "DESCENDING":
            throw UsageError("'\(part)' is not an order; for descending, write --sort=-\(words[0])")
        case "ASC", "ASCENDING":
            throw UsageError("'\(part)' is not an order; ascending is the default: write --sort=\(words[0])")
        default: return
        }
    }

    // MARK: Results

    func count() throws -> Int {
        var count = 0
        if let rows {
            let cursor = try UsageError.requesting { try snapshot.rows(rows) }
            var batch = RowBatch()
            while try cursor.next(into: &batch) { count += batch.count }
            return count
        }
        guard !keys.isEmpty else { return try UsageError.requesting { try snapshot.count(request) } }
        try forEachBatch { count += $0.count }
        return count
    }

    func explain(_ format: RecordFormat, console: Console) throws {
        guard keys.isEmpty else {
            throw UsageError("option '--explain' shows how objects are found, and '--id' names them; leave one out")
        }
        let plan = try UsageError.requesting { () throws(StoreError) -> FetchPlan in
            if let rows { return try snapshot.explainRows(rows, executing: true) }
            return try snapshot.explain(request, executing: true)
        }
        let missing = MissingIndex.attribute(plan, for: request, model: model)
        let report = PlanReport(plan, missingIndex: missing)
        if format == .json {
            try console.printJSON(report)
        } else {
            for line in report.lines { try console.print(VisibleText.of(line)) }
        }
    }

    private func print(_ rows: RowRequest, format: OutputFormat, console: Console) throws {
        let cursor = try UsageError.requesting { try snapshot.rows(rows) }
        let properties = rows.propertiesToFetch
        let namesEntity = cursor.columns.indices.map { column -> Bool? in
            guard column < properties.count else { return nil }
            // The object's own ID is printed as its key.
            if properties[column].expression == .evaluatedObject { return false }
            return isObjectIDAttribute(properties[column].expression) ? true : nil
        }
        let writer = ValueRowWriter(
            columns: cursor.columns, types: cursor.types, namesEntity: namesEntity, model: model,
            format: format)
        var output = RowOutput(writer, types: cursor.types, format: format.records, console: console)
        var batch = RowBatch()
        var count = 0
        while try cursor.next(into: &batch) {
            count += batch.count
            try output.write(batch)
        }
        try output.end()
        if count == 0, format.records == .table { console.printError("0 rows") }
    }

    private func isObjectIDAttribute(_ expression: FetchRequest.Expression) -> Bool {
        guard case .keyPath(let names) = expression, let entity = model.entity(request.entity),
            let path = try? ResolvedPath(names, from: entity.number, model: model),
            case .field(let field) = path.end
        else { return false }
        return field.kind == .objectID
    }

    func print(_ format: OutputFormat, console: Console) throws {
        if let rows { return try print(rows, format: format, console: console) }
        let rows = RecordRowWriter(
            columns, names: columnNames, model: model, dates: format.dates, csv: format.csv)
        var output: any RecordOutput
        switch format.records {
        case .table: output = TableOutput(rows, style: console.tableStyle, console: console)
        case .csv: output = CSVOutput(rows, console: console)
        case .json, .jsonl:
            let isList = format.records == .json
            if selection == nil, columnNames == nil {
                let writer = RecordTextWriter(model: model, dates: format.dates)
                let hasEntities = try model.requireEntity(request.entity).hasSubentities
                output = JSONOutput(isList: isList, console: console) { (record, text) throws(StoreError) in
                    try writer.append(record, entityKey: hasEntities, to: &text)
                }
            } else {
                output = JSONOutput(isList: isList, console: console) { (record, text) throws(StoreError) in
                    try rows.appendJSON(record, to: &text)
                }
            }
        }
        var count = 0
        try forEachBatch { batch in
            count += batch.count
            try rows.linkedKeys.read(of: batch, from: snapshot)
            try output.write(batch)
        }
        try output.end()
        // A missing object of `--id` is reported separately.
        if count == 0, keys.isEmpty, format.records == .table { console.printError("0 objects") }
    }

    /// Prints the missing objects of `--id`, and returns the exit code.
    func exitCode(_ console: Console) -> ExitCode {
        for key in missing { console.printError("\(ObjectID(request.entity, key: key)) does not exist") }
        return missing.isEmpty ? .success : .finding
    }

    private func forEachBatch(_ body: (RecordBatch) throws -> Void) throws {
        var batch = RecordBatch(model: model)
        guard !keys.isEmpty else {
            let cursor = try UsageError.requesting { try snapshot.fetch(request) }
            while try cursor.next(into: &batch) { try body(batch) }
            return
        }
        let entity = try model.requireEntity(request.entity)
        let cursor = try snapshot.records(with: keys.map { ObjectID(request.entity, key: $0) })
        var found: Set<Int64> = []
        while try cursor.next(into: &batch) {
            // The key may belong to an object of another entity in the hierarchy.
            var wanted = RecordBatch(model: model)
            for index in 0..<batch.count where entity.includes(batch.entityNumber(at: index)) {
                wanted.append(batch, at: index)
                found.insert(batch.key(at: index))
            }
            if !wanted.isEmpty { try body(wanted) }
        }
        missing = keys.filter { !found.contains($0) }
    }
}
