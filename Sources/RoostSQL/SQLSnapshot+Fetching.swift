public import RoostCore

extension SQLSnapshot {
    /// Reads the records that a request asks for, in its order.
    ///
    /// What SQL can say exactly is left to the database, the rest is done on the records that are left.
    public func fetch(_ request: FetchRequest) throws(StoreError) -> any RecordCursor {
        _ = try open()
        // Compiled first, because their errors are the same in every store.
        _ = try RecordFilter(request, model: model)
        _ = try RecordOrder(request, model: model)
        let entity = try model.requireEntity(request.entity)
        var translator = SQLPredicateTranslator(schema: schema, entity: entity)
        let (conditions, isExact) = translator.conditions(request.predicate)
        let entities = request.includesSubentities ? entity.selfAndSubentities : [entity.number]
        guard isExact, let order = try orderTerms(request, entity) else {
            let source = try records(of: entity, entities: entities, where: conditions, translator.values)
            return try ScanningFetch(request, model: model, source: source, graph: SnapshotGraph(self))
        }
        var values = translator.values
        var suffix = ""
        if request.fetchLimit != nil || request.fetchOffset != 0 {
            values += [.integer(Int64(request.fetchLimit ?? .max)), .integer(Int64(request.fetchOffset))]
            suffix =
                " LIMIT \(schema.dialect.parameter(values.count - 1)) OFFSET \(schema.dialect.parameter(values.count))"
        }
        return try records(of: entity, entities: entities, where: conditions, values, orderBy: order, suffix: suffix)
    }

    /// How many records ``fetch(_:)`` would give, limit and offset included.
    public func count(_ request: FetchRequest) throws(StoreError) -> Int {
        let connection = try open()
        _ = try RecordFilter(request, model: model)
        _ = try RecordOrder(request, model: model)
        let entity = try model.requireEntity(request.entity)
        var translator = SQLPredicateTranslator(schema: schema, entity: entity)
        let (conditions, isExact) = translator.conditions(request.predicate)
        let entities = request.includesSubentities ? entity.selfAndSubentities : [entity.number]
        guard isExact else {
            let source = try records(of: entity, entities: entities, where: conditions, translator.values)
            return try ScanningFetch.count(request, model: model, source: source, graph: SnapshotGraph(self))
        }
        let table = schema.table(of: entity.number)
        let all = conditions + (schema.entityFilter(entities, in: table).map { [$0] } ?? [])
        let filter = all.isEmpty ? "" : " WHERE " + all.joined(separator: " AND ")
        let matches = try connection.withStatement("SELECT COUNT(*) FROM \(table.quotedName)\(filter)") {
            (statement) throws(StoreError) -> Int in
            try statement.bind(translator.values)
            return try statement.step() ? Int(clamping: try statement.integer(at: 0)) : 0
        }
        let remaining = max(0, matches - request.fetchOffset)
        return request.fetchLimit.map { min($0, remaining) } ?? remaining
    }

    /// The ORDER BY terms that order rows exactly as ``RecordOrder`` orders records; nil where there are none.
    private func orderTerms(
        _ request: FetchRequest, _ entity: ManagedObjectModel.Entity
    ) throws(StoreError) -> [String]? {
        let table = schema.table(of: entity.number)
        var terms: [String] = []
        var keys: Set<String> = []
        if try RecordOrder(request, model: model).needsKeys { return nil }
        // A key that came before leaves nothing to decide; a statement takes some 2000 terms.
        for descriptor in request.sortDescriptors where keys.insert(descriptor.key).inserted {
            let field = try entity.layout.requireField(descriptor.key)
            guard let column = table.column(field, of: entity.number) else { return nil }
            switch field.kind {
            case .double, .float, .date:
                // An index is of use only where it has the right order, which all NaN but the common one would break.
                let isIndexed = schema.indexedColumns[schema.tableOfEntity[entity.number]].contains(column)
                if isIndexed, try isRegular(column, table) {
                    terms.append(schema.dialect.order(column, ascending: descriptor.isAscending))
                } else {
                    terms += schema.dialect.floatingOrder(column, ascending: descriptor.isAscending)
                }
            case .integer64, .integer32, .integer16, .boolean, .order, .string, .uri, .uuid, .data:
                terms.append(schema.dialect.order(column, ascending: descriptor.isAscending))
            default: return nil
            }
        }
        return terms
    }

    private func isRegular(_ column: String, _ table: SQLTable) throws(StoreError) -> Bool {
        try open().integer(schema.dialect.findIrregularNaN(column, in: table.quotedName)) == nil
    }
}
