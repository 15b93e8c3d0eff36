internal import RoostCore

extension ModelInference {
    /// Turns unique indexes into uniqueness constraints, and other indexes into fetch indexes.
    ///
    /// Adds a remark for each index that the model cannot have.
    mutating func addIndexes(of table: Int) {
        var indexNames = ModelNames()
        for index in schema.tables[table].indexes {
            guard
                let reason = index.isUnique
                    ? addConstraint(index, table: table) : addIndex(index, table: table, names: &indexNames)
            else { continue }
            let what =
                index.isPrimaryKey
                ? "the primary key" : index.isConstraint ? "a UNIQUE constraint" : "index '\(index.name)'"
            remarks.add(
                "\(RelationshipNames.capitalized(what)) is left out: \(reason).", table: table,
                name: schema.tables[table].name, isLoss: true)
        }
    }

    /// Adds a uniqueness constraint, or returns the reason why the model cannot have it.
    private mutating func addConstraint(_ index: ForeignTable.Index, table: Int) -> String? {
        if let reason = Self.plainReason(index) { return reason }
        let columns = index.columns.compactMap { $0 }
        // Keys of objects are unique, so any combination of columns with a key is unique too.
        if columns.contains(where: { isKey($0, of: table) }) { return nil }
        if let other = index.collations.first(where: { $0 != "BINARY" }) {
            return "it compares with collation \(other), and constraints compare exactly"
        }
        guard let properties = properties(columns, table: table, isConstraint: true) else {
            return "one of its columns is not a property of the entity, or its values do not stay unique"
        }
        let known = entities[table]?.uniquenessConstraints.contains { Set($0) == Set(properties) } ?? false
        if !known { entities[table]?.uniquenessConstraints.append(properties) }
        return nil
    }

    /// Adds a fetch index, or returns the reason why the model cannot have it.
    private mutating func addIndex(
        _ index: ForeignTable.Index, table: Int, names: inout ModelNames
    ) -> String? {
        if let reason = Self.plainReason(index) { return reason }
        let columns = index.columns.compactMap { $0 }
        if let other = index.collations.first(where: { $0 != "BINARY" }) {
            return "it orders by collation \(other)"
        }
        guard let properties = properties(columns, table: table, isConstraint: false) else {
            return "its columns are not all properties of the entity"
        }
        // A relationship of several columns is one element of the index. Then all elements have the first column's
        // direction.
        let descending = zip(columns, index.isDescending).first { column, _ in column == columns.first }?.1 ?? false
        let isOneToOne = properties.count == columns.count
        let elements = properties.enumerated().map { place, property in
            FetchIndexDescription.Element(
                property, isAscending: isOneToOne ? !index.isDescending[place] : !descending)
        }
        entities[table]?.fetchIndexes.append(
            FetchIndexDescription(names.name(for: index.name, orElse: "index"), elements: elements))
        return nil
    }

    private static func plainReason(_ index: ForeignTable.Index) -> String? {
        if let problem = index.problem { return problem }
        if index.isPartial { return "it covers only some rows" }
        return index.columns.contains(nil) ? "it has an expression" : nil
    }

    /// Returns the properties that hold the values of the columns, in order, or nil if a column
    /// has no suitable property.
    private func properties(_ columns: [Int], table: Int, isConstraint: Bool) -> [String]? {
        var (result, open): ([String], [Int]) = ([], columns)
        while let column = open.first {
            if let attribute = attributes[table][column] {
                guard attribute.isInjective || !isConstraint else { return nil }
                result.append(attribute.name)
                open.removeFirst()
                continue
            }
            let keys = schema.tables[table].foreignKeys.enumerated()
            let found = keys.first { number, key in
                key.columns.contains(column) && Set(key.columns).isSubset(of: open)
                    && (!isConstraint || isInjective(key, table: table)) && relationships[table][number] != nil
            }
            guard let found, let name = relationships[table][found.offset] else { return nil }
            result.append(name)
            open.removeAll { found.element.columns.contains($0) }
        }
        return Set(result).count == result.count ? result : nil
    }

    /// Returns whether different values of a foreign key refer to different rows.
    private func isInjective(_ key: ForeignTable.ForeignKey, table: Int) -> Bool {
        zip(key.columns, key.parentColumns).allSatisfy { column, parentColumn in
            let values = facts[table].columns[column]
            let kinds = [values.integers + values.reals, values.texts, values.blobs, values.dates].filter { $0 > 0 }
            return !schema.tables[key.parent].columns[parentColumn].isFolding && kinds.count <= 1
        }
    }
}
