internal import RoostCore

extension RowPlan {
    init(_ request: RowRequest, model: ManagedObjectModel) throws(StoreError) {
        self = try PredicateCompiler.compile { (isShallow) throws(StoreError) in
            try RowPlan(request, model: model, isShallow: isShallow)
        }
    }

    private init(_ request: RowRequest, model: ManagedObjectModel, isShallow: Bool) throws(StoreError) {
        try request.fetchRequest.requireWindow()
        let entity = try model.requireEntity(request.entity)
        var properties = request.propertiesToFetch
        if properties.isEmpty {
            properties =
                request.propertiesToGroupBy.isEmpty
                ? Self.everyAttribute(of: entity, model: model) : request.propertiesToGroupBy.map { Self.property($0) }
        }
        var names: Set<String> = []
        for property in properties where !names.insert(property.name).inserted {
            throw StoreError(
                .invalidRequest,
                "The rows of '\(entity.name)' have two columns '\(property.name)'; give each a name of its own.")
        }
        var compiler = RowCompiler(model: model, entity: entity, isShallow: isShallow)
        var isGrouped = !request.propertiesToGroupBy.isEmpty
        for property in properties where !isGrouped {
            isGrouped = try property.expression.containsAggregate(&compiler)
        }
        if isGrouped {
            try self.init(grouped: request, properties: properties, start: compiler, model: model, entity: entity)
        } else {
            guard request.havingPredicate == nil else { throw Self.havingWithoutGroups(entity) }
            try self.init(each: request, properties: properties, start: compiler, model: model, entity: entity)
        }
    }

    /// Returns the stored attributes, attributes of superentities first.
    private static func everyAttribute(
        of entity: ManagedObjectModel.Entity, model: ManagedObjectModel
    ) -> [FetchRequest.FetchedProperty] {
        var line = [entity]
        while let superentity = line.last?.superentity { line.append(model.entities[superentity]) }
        return line.reversed().flatMap { $0.declaration.attributes }.filter { entity.layout.field($0.name) != nil }
            .map { FetchRequest.FetchedProperty($0.name, expression: .keyPath([$0.name])) }
    }

    private static func property(_ expression: FetchRequest.Expression) -> FetchRequest.FetchedProperty {
        if case .keyPath(let names) = expression {
            return FetchRequest.FetchedProperty(names.joined(separator: "."), expression: expression)
        }
        return FetchRequest.FetchedProperty(expression.label, expression: expression)
    }

    private static func havingWithoutGroups(_ entity: ManagedObjectModel.Entity) -> StoreError {
        StoreError(
            .invalidRequest,
            "The rows of '\(entity.name)' have a condition on groups but no groups; name what to group by, or put the condition into the predicate."
        )
    }

    // MARK: A row for each object

    private init(
        each request: RowRequest, properties: [FetchRequest.FetchedProperty], start: RowCompiler,
        model: ManagedObjectModel, entity: ManagedObjectModel.Entity
    ) throws(StoreError) {
        var compiler = start
        var sources: [RowSource] = []
        for property in properties { sources.append(try compiler.source(property.expression, column: property.name).0) }
        var fetch = FetchRequest(
            request.entity, where: request.predicate, limit: request.fetchLimit, offset: request.fetchOffset
        ).with { $0.includesSubentities = request.includesSubentities }
        var levels: [SortedRows.Level] = []
        var isOrderOfObjects = true
        for descriptor in request.sortDescriptors {
            // A column name takes precedence over a property name.
            if let column = properties.firstIndex(where: { $0.name == descriptor.key }) {
                levels.append(
                    SortedRows.Level(column: column, options: descriptor.options, isAscending: descriptor.isAscending))
                // `tags.@max.label` is a key path, but objects cannot be sorted by it.
                guard case .keyPath(let names) = properties[column].expression,
                    !names.contains(where: { $0.hasPrefix("@") })
                else {
                    try Self.requireOrder(
                        try compiler.source(properties[column].expression, column: descriptor.key).1.kind,
                        name: descriptor.key, entity: entity)
                    isOrderOfObjects = false
                    continue
                }
                var path = descriptor
                path.key = names.joined(separator: ".")
                fetch.sortDescriptors.append(path)
            } else {
                levels.append(
                    SortedRows.Level(
                        column: sources.count, options: descriptor.options, isAscending: descriptor.isAscending))
                sources.append(try compiler.source(.keyPath(descriptor.key.names), column: descriptor.key).0)
                fetch.sortDescriptors.append(descriptor)
            }
        }
        // If the fetch will not sort, check its sort descriptors here.
        if !isOrderOfObjects { _ = try RecordSortOrder(fetch, model: model) }
        if isOrderOfObjects {
            sources.removeLast(sources.count - properties.count)
        } else {
            fetch.sortDescriptors = []
        }
        let hasWindow = !isOrderOfObjects || request.returnsDistinctResults
        if hasWindow { (fetch.fetchLimit, fetch.fetchOffset) = (nil, nil) }
        self.columns = properties.map(\.name)
        self.sources = sources
        program = compiler.program
        self.request = fetch
        order = isOrderOfObjects ? nil : levels
        isDistinct = request.returnsDistinctResults
        window = hasWindow ? Window(offset: request.fetchOffset ?? 0, limit: request.fetchLimit) : nil
    }

    static func requireOrder(
        _ kind: PredicateType.Kind, name: String, entity: ManagedObjectModel.Entity
    ) throws(StoreError) {
        switch kind {
        case .object, .composite, .transformable:
            throw StoreError(
                .invalidRequest,
                "The rows of '\(entity.name)' cannot be sorted by '\(name)': values of type \(kind) have no order.")
        default: break
        }
    }

    // MARK: A row for each group

    private init(
        grouped request: RowRequest, properties: [FetchRequest.FetchedProperty], start: RowCompiler,
        model: ManagedObjectModel, entity: ManagedObjectModel.Entity
    ) throws(StoreError) {
        if request.propertiesToGroupBy.isEmpty, request.havingPredicate != nil {
            throw Self.havingWithoutGroups(entity)
        }
        var groups = GroupCompiler(
            properties, keys: request.propertiesToGroupBy, records: start, model: model, entity: entity,
            isShallow: start.isShallow)
        try groups.compileKeys()
        var columns: [GroupedColumn] = []
        var kinds: [PredicateType.Kind] = []
        var types: [AttributeType?] = []
        for property in properties {
            let (column, kind, type) = try groups.column(property.expression, name: property.name)
            columns.append(column)
            kinds.append(kind)
            types.append(type)
        }
        var levels: [SortedRows.Level] = []
        for descriptor in request.sortDescriptors {
            var column = properties.firstIndex { $0.name == descriptor.key }
            if column == nil {
                let (hidden, kind, type) = try groups.column(
                    .keyPath(descriptor.key.names), name: descriptor.key, isOrder: true)
                columns.append(hidden)
                kinds.append(kind)
                types.append(type)
                column = columns.count - 1
            }
            guard let column else { continue }
            try Self.requireOrder(kinds[column], name: descriptor.key, entity: entity)
            levels.append(
                SortedRows.Level(column: column, options: descriptor.options, isAscending: descriptor.isAscending))
        }
        let having = try groups.condition(request.havingPredicate)
        self.columns = properties.map(\.name)
        grouping = Grouping(
            keys: groups.keySources, aggregates: groups.aggregates, columns: columns, columnKinds: kinds,
            columnTypes: types,
            keySlots: groups.keySlots, aggregateSlots: groups.aggregateSlots, having: having, program: groups.program,
            isWhole: request.propertiesToGroupBy.isEmpty)
        program = groups.records.program
        // Objects are read in key order, so that sums of floating-point numbers are the same in
        // every store.
        self.request = FetchRequest(
            request.entity, where: request.predicate
        ).with { $0.includesSubentities = request.includesSubentities }
        order = levels.isEmpty ? nil : levels
        isDistinct = request.returnsDistinctResults
        window = Window(offset: request.fetchOffset ?? 0, limit: request.fetchLimit)
    }
}
