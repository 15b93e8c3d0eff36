internal import RoostCore
internal import RoostQuery

extension Upsert {
    // MARK: Keys

    /// Returns the values that a row sets in the fields of uniqueness constraints, by field index.
    func fields(
        _ shape: Int, values: [Value], properties: BatchProperties, owner: @autoclosure () -> String
    ) throws(StoreError) -> [Int: Value] {
        var named: [Int: Value] = [:]
        guard !constraints.isEmpty, let plan = shapes[shape].plans[entity.number] else { return named }
        for position in shapes[shape].keyPositions {
            let (value, property) = (values[position], plan.targets[position])
            if case .toOne(let field, _) = property {
                named[field.index] = value
            } else {
                try properties.forEachField(of: value, for: property, owner: owner) { named[$0.index] = $1 }
            }
        }
        return named
    }

    func isPartOfKey(_ property: BatchProperties.Property) -> Bool {
        let field: RecordLayout.Field
        switch property {
        case .field(let one), .composite(let one), .toOne(let one, _): field = one
        }
        return constraints.contains {
            $0.contains { $0.index == field.index || $0.name.hasPrefix(field.name + ".") }
        }
    }

    /// Returns a key for each constraint in which no value is null.
    func keys(_ value: (RecordLayout.Field) throws(StoreError) -> Value) throws(StoreError) -> [Key] {
        var keys: [Key] = []
        for (number, fields) in constraints.enumerated() {
            var values: [Value] = []
            for field in fields { values.append(try compared(try value(field))) }
            if !values.contains(.null) { keys.append(Key(constraint: number, values: values)) }
        }
        return keys
    }

    /// Returns the same form for all values that a constraint considers equal.
    private func compared(_ value: Value) throws(StoreError) -> Value {
        switch value {
        case .double(let number): .double(number.isNaN ? .nan : number == 0 ? 0 : number)
        case .objectID(let id):
            .objectID(ObjectID(model.entities[try model.requireEntity(id.entity).root].name, key: id.key))
        default: value
        }
    }

    private func keys(of record: RecordReader) throws(StoreError) -> [Key] {
        // The record can belong to a subentity, whose fields have the same names but other indices.
        try keys { field in record.layout.field(field.name).map { record.value($0) } ?? .null }
    }

    // MARK: Resolving rows

    /// Finds the objects that rows identify, and merges the rows that identify the same object.
    mutating func resolved(on snapshot: any StoreSnapshot) throws(StoreError) -> Resolution {
        var resolution = Resolution(records: RecordBatch(model: model))
        var start = 0
        while start < rows.count {
            let chunk = start..<min(rows.count, start + Self.chunkCount)
            start = chunk.upperBound
            try throwIfCancelled()
            var missing = Array(chunk)
            for constraint in constraints.indices where !missing.isEmpty {
                let keys = missing.flatMap { rows[$0].keys.filter { $0.constraint == constraint } }
                try lookUp(keys, constraint: constraint, in: snapshot, resolution: &resolution)
                missing.removeAll { index in rows[index].keys.contains { resolution.stored[$0] ?? nil != nil } }
            }
            for index in chunk { try resolve(index, snapshot: snapshot, resolution: &resolution) }
        }
        return resolution
    }

    private mutating func resolve(
        _ index: Int, snapshot: any StoreSnapshot, resolution: inout Resolution
    ) throws(StoreError) {
        let row = rows[index]
        for key in row.keys {
            if let target = resolution.claims[key] {
                resolution.rows.append(target)
                return try add(row, number: index + 1, to: target, resolution: &resolution)
            }
            if resolution.stored[key] == nil {
                try lookUp([key], constraint: key.constraint, in: snapshot, resolution: &resolution)
            }
            guard !resolution.released.contains(key), let position = resolution.stored[key] ?? nil else { continue }
            if let target = resolution.targetsByPosition[position] {
                resolution.rows.append(target)
                return try add(row, number: index + 1, to: target, resolution: &resolution)
            }
            resolution.targetsByPosition[position] = resolution.targets.count
            resolution.rows.append(resolution.targets.count)
            var target = Target(
                position: position, number: index + 1, shape: row.shape, values: row.values, members: row.members)
            target.isSkipped = skips
            target.keys = try resolution.records.withRecord(at: position) { (record) throws(StoreError) in
                try keys(of: record)
            }
            resolution.targets.append(target)
            return try setKeys(resolution.targets.count - 1, resolution: &resolution)
        }
        resolution.rows.append(resolution.targets.count)
        resolution.targets.append(
            Target(position: nil, number: index + 1, shape: row.shape, values: row.values, members: row.members))
        try setKeys(resolution.targets.count - 1, resolution: &resolution)
    }

    private mutating func add(
        _ row: Row, number: Int, to index: Int, resolution: inout Resolution
    ) throws(StoreError) {
        guard !skips else { return }
        var target = resolution.targets[index]
        if target.sources.isEmpty {
            for name in shapes[target.shape].names { target.sources[name] = target.number }
        }
        var merged: [String: Value] = [:]
        for (name, value) in zip(shapes[target.shape].names, target.values) { merged[name] = value }
        for (name, value) in zip(shapes[row.shape].names, row.values) {
            // A value for a whole composite replaces the elements that earlier rows set.
            for old in merged.keys where old.hasPrefix(name + ".") && row.isWithout(old, shapes: shapes) {
                merged[old] = nil
            }
            merged[name] = value
            target.sources[name] = number
        }
        for name in row.members.keys { target.sources[name] = number }
        let names = merged.keys.sorted()
        target.shape = try shape(of: names)
        target.values = names.map { merged[$0] ?? .null }
        target.members.merge(row.members) { $1 }
        resolution.targets[index] = target
        try setKeys(index, resolution: &resolution)
    }

    private func setKeys(_ index: Int, resolution: inout Resolution) throws(StoreError) {
        let target = resolution.targets[index]
        var keys = target.keys
        if !target.isSkipped {
            let named = try fields(
                target.shape, values: target.values, properties: properties, owner: Self.owner(target.number))
            if let position = target.position {
                keys = try resolution.records.withRecord(at: position) { (record) throws(StoreError) in
                    try self.keys { field in
                        named[field.index] ?? record.layout.field(field.name).map { record.value($0) } ?? .null
                    }
                }
            } else {
                keys = try self.keys { named[$0.index] ?? defaults[$0.index] }
            }
        }
        for key in target.keys where !keys.contains(key) {
            if resolution.claims[key] == index { resolution.claims[key] = nil }
            if target.position != nil { resolution.released.insert(key) }
        }
        // If another object already has the key, the commit reports a constraint violation.
        for key in keys where resolution.claims[key] == nil { resolution.claims[key] = index }
        resolution.targets[index].keys = keys
    }

    /// Finds the stored objects with given keys of a constraint.
    private func lookUp(
        _ keys: [Key], constraint: Int, in snapshot: any StoreSnapshot, resolution: inout Resolution
    ) throws(StoreError) {
        let keys = keys.filter { resolution.stored[$0] == nil }
        guard !keys.isEmpty else { return }
        for key in keys { resolution.stored[key] = .some(nil) }
        let cursor = try snapshot.fetch(
            FetchRequest(entity.name, where: Self.condition(constraints[constraint], keys: keys.map(\.values))))
        var batch = RecordBatch(model: model)
        while try cursor.next(into: &batch) {
            for index in 0..<batch.count {
                let found = try batch.withRecord(at: index) { (record) throws(StoreError) in
                    try self.keys(of: record).first { $0.constraint == constraint }
                }
                guard let found, resolution.stored[found] != nil else { continue }
                let place = model.place(of: batch, at: index)
                let position = resolution.positions[place] ?? resolution.records.count
                if position == resolution.records.count {
                    resolution.records.append(batch, at: index)
                    resolution.positions[place] = position
                }
                resolution.stored[found] = .some(position)
            }
        }
    }

    private static func condition(
        _ fields: [RecordLayout.Field], keys: [[Value]]
    ) -> FetchRequest.Predicate {
        func path(_ field: RecordLayout.Field) -> FetchRequest.Expression {
            .keyPath(field.name.split(separator: ".").map(String.init))
        }
        func isIn(_ field: RecordLayout.Field, values: [Value]) -> FetchRequest.Predicate {
            .comparison(
                .init(left: path(field), operator: .isIn, right: .aggregate(values.map { .constant($0) })))
        }
        guard let last = fields.last, fields.count > 1 else { return isIn(fields[0], values: keys.map { $0[0] }) }
        // Keys that differ only in the last value become one condition, which needs one access to
        // the store.
        var (groups, values): ([[Value]], [[Value]: [Value]]) = ([], [:])
        for key in keys {
            let group = Array(key.dropLast())
            if values[group] == nil { groups.append(group) }
            if let value = key.last { values[group, default: []].append(value) }
        }
        return .or(
            groups.map { group in
                .and(
                    zip(fields, group).map { field, value in
                        .comparison(.init(left: path(field), operator: .equal, right: .constant(value)))
                    } + [isIn(last, values: values[group] ?? [])])
            })
    }
}

extension Upsert.Row {
    func isWithout(_ name: String, shapes: [Upsert.Shape]) -> Bool { !shapes[shape].names.contains(name) }
}

extension Upsert.Target {
    /// Returns the number of the row that provides a property's value.
    func number(of name: String) -> Int {
        var name = Substring(name)
        while true {
            if let row = sources[String(name)] { return row }
            guard let dot = name.lastIndex(of: ".") else { return number }
            name = name[..<dot]
        }
    }
}
