internal import RoostCore

extension KeyValueSnapshot {
    func fetch(_ request: FetchRequest) throws(StoreError) -> any RecordCursor {
        try requireOpen()
        // Compiled first: this refuses what is wrong or nested too deep before anything goes down into the predicate.
        let filter = try RecordFilter(request, model: model)
        return try ScanningFetch(request, filter: filter, model: model, visiting: try candidates(request))
    }

    func count(_ request: FetchRequest) throws(StoreError) -> Int {
        try requireOpen()
        let filter = try RecordFilter(request, model: model)
        return try ScanningFetch.count(request, filter: filter, model: model, visiting: try candidates(request))
    }

    /// The records that can meet a request's predicate, in key order: those an index names, or all of the entity.
    ///
    /// Whoever reads them still has to filter. The predicate was compiled before.
    private func candidates(_ request: FetchRequest) throws(StoreError) -> any RecordVisitor {
        let entity = try model.requireEntity(request.entity)
        if let predicate = request.predicate, let keys = try candidateKeys(predicate, entity) {
            return SelectedRecordCursor(self, ids: keys.inOrder().map { ObjectID(entity.name, $0) })
        }
        return try EntityRecordCursor(self, entity: entity, after: 0)
    }

    /// The keys of all objects that can meet `predicate`, and perhaps of others; nil when only a scan can tell.
    private func candidateKeys(
        _ predicate: FetchRequest.Predicate, _ entity: ManagedObjectModel.Entity
    ) throws(StoreError) -> [Int64]? {
        switch predicate {
        case .and(let members):
            for member in members {
                if let keys = try candidateKeys(member, entity) { return keys }
            }
            return nil
        case .or(let members):
            var all: [Int64] = []
            for member in members {
                guard let keys = try candidateKeys(member, entity) else { return nil }
                all += keys
            }
            return all
        case .comparison(let comparison):
            guard let values = comparison.wantedValues else { return nil }
            var all: [Int64] = []
            for value in values {
                guard let keys = try keys(comparison.left, equal: value, entity) else { return nil }
                all += keys
            }
            return all
        case .constant, .not: return nil
        }
    }

    /// The keys of the objects whose `expression` equals `value`; nil where no index can tell.
    private func keys(
        _ expression: FetchRequest.Expression, equal value: Value, _ entity: ManagedObjectModel.Entity
    ) throws(StoreError) -> [Int64]? {
        switch (expression, value) {
        case (.evaluatedObject, .objectID(let id)): return id.key > 0 ? [id.key] : []
        case (.keyPath(let path), _):
            guard !value.isNull, let field = entity.layout.field(path.joined(separator: ".")),
                let encoded = encode(value, field, entity)
            else { return nil }
            return try keys(field, encoded, value, entity)
        default: return nil
        }
    }

    private func keys(
        _ field: RecordLayout.Field, _ encoded: [UInt8], _ value: Value, _ entity: ManagedObjectModel.Entity
    ) throws(StoreError) -> [Int64]? {
        let plan = plan.entities[entity.number]
        var prefix = StorageKey()
        if case .objectID(let id) = value, let reference = plan.references.first(where: { $0.field == field }) {
            prefix.start(record: id.key, root: reference.relationship)
            return try keys(prefix, .references)
        }
        if let constraint = plan.constraints.first(where: { $0.fields == [field] }) {
            IndexKeyEncoding.makePrefix(
                number: constraint.number, values: encoded, isIndex: false, limit: self.plan.keyLimit, into: &prefix)
            return try keys(prefix, .unique)
        }
        // An index that starts with the property will do, unless its keys are shortened: then the beginning is not enough.
        let fitting = plan.indexes.first { $0.fields.first == field && $0.isAscending.first == true }
        guard let index = fitting, encoded.count <= self.plan.keyLimit - 64 else { return nil }
        prefix.start(number: index.number)
        prefix.append(bytes: encoded)
        return try keys(prefix, .indexes)
    }

    /// The object keys of all entries that begin with `prefix`.
    private func keys(_ prefix: StorageKey, _ space: KeySpace) throws(StoreError) -> [Int64] {
        var keys: [Int64] = []
        let limit = plan.keyLimit
        try reader.forEach(prefix: prefix, in: space) { (key, value) throws(StoreError) in
            // A unique key that is not shortened ends with its values; its object is in the value only.
            if space == .unique, key.count < limit, key.count != prefix.count { return true }
            let found =
                switch space {
                case .unique: value.littleEndian64(at: 0).map { Int64(bitPattern: $0) }
                case .references: LinkKey(key)?.to
                default: key.lastKey
                }
            guard let found, found > 0 else {
                throw StoreError(.corrupted, "An entry of space '\(space)' has the wrong form.")
            }
            keys.append(found)
            return true
        }
        return keys
    }

    /// The index encoding of a value as a record of the entity would hold it; nil when it cannot hold exactly this value.
    private func encode(
        _ value: Value, _ field: RecordLayout.Field, _ entity: ManagedObjectModel.Entity
    ) -> [UInt8]? {
        switch (value, field.kind) {
        case (.int, .integer16), (.int, .integer32), (.int, .integer64), (.string, .string), (.uri, .uri),
            (.data, .data),
            (.uuid, .uuid), (.bool, .boolean), (.date, .date), (.double, .double), (.decimal, .decimal),
            (.objectID, .reference), (.objectID, .polymorphicReference), (.objectID, .objectID):
            break
        default: return nil
        }
        // NaN equals nothing, but it has a place in an index.
        if case .double(let number) = value, number.isNaN { return nil }
        var scratch = RecordBatch(model: model)
        scratch.beginRecord(entity.layout, key: 1, version: 1)
        do throws(StoreError) {
            try scratch.set(value, field)
        } catch {
            return nil
        }
        scratch.endRecord()
        var bytes: [UInt8] = []
        scratch.withRecord(at: 0) { record in
            IndexKeyEncoding.append(field, of: record, model: model, to: &bytes)
            return
        }
        return bytes
    }
}

extension [Int64] {
    /// The keys in ascending order, each once; those that one index entry after the other named are in it mostly.
    fileprivate func inOrder() -> [Int64] {
        guard !zip(self, dropFirst()).allSatisfy({ $0 < $1 }) else { return self }
        var ordered: [Int64] = []
        for key in sorted() where ordered.last != key { ordered.append(key) }
        return ordered
    }
}

extension FetchRequest.Comparison {
    /// The values one of which the left side must equal; nil for any other comparison.
    fileprivate var wantedValues: [Value]? {
        switch (self.operator, right) {
        case (.equal, .constant(let value)): return [value]
        case (.isIn, .aggregate(let members)):
            var values: [Value] = []
            for member in members {
                guard case .constant(let value) = member else { return nil }
                values.append(value)
            }
            return values
        default: return nil
        }
    }
}
