internal import RoostCore

/// A builder of the plan, which describes the use of each table and column.
struct ImportPlanning {
    private let schema: ForeignSchema
    private let facts: [TableFacts]
    private let binding: ImportBinding
    private var remarks: ImportRemarks
    /// For each table and column, the name and type of the property for the column's values.
    private var properties: [Int: [Int: (name: String, type: String)]] = [:]
    /// The entity names by table position.
    private let entities: [Int: String]
    private let joins: Set<Int>

    var losses: [String] { schema.remarks + remarks.losses }

    init(_ schema: ForeignSchema, facts: [TableFacts], binding: ImportBinding, remarks: ImportRemarks) {
        (self.schema, self.facts, self.binding, self.remarks) = (schema, facts, binding, remarks)
        entities = Dictionary(
            binding.sources.map { ($0.table, $0.entity.name.text) }, uniquingKeysWith: { first, _ in first })
        joins = Set(binding.links.map(\.table))
    }

    /// Returns the plan, and finds the losses.
    mutating func plan() -> ImportPlan {
        for source in binding.sources { describe(source) }
        for links in binding.links { describe(links) }
        var plan = ImportPlan()
        plan.remarks = schema.remarks
        for number in schema.tables.indices { plan.tables.append(table(number)) }
        return plan
    }

    private mutating func describe(_ source: ImportBinding.Source) {
        let table = schema.tables[source.table]
        for reading in source.readings {
            guard let number = reading.foreignKey else {
                describe(reading, of: source)
                continue
            }
            let key = table.foreignKeys[number]
            let destination = reading.field.destination.map { binding.model.entities[$0].name.text } ?? ""
            for column in key.columns {
                note(reading.field.name, type: "to \(destination)", column: column, of: source.table)
            }
            addDangling(number, of: source.table, name: reading.field.name)
            guard let first = key.columns.first,
                key.parentColumns.contains(where: { schema.tables[key.parent].columns[$0].isFolding })
            else { continue }
            remarks.add(
                "the spelling of its values is not kept where table '\(schema.tables[key.parent].name)' spells them differently",
                column: first, of: source.table, in: schema, isLoss: true)
        }
    }

    /// Describes an attribute and the losses of its type.
    private mutating func describe(_ reading: ImportBinding.Reading, of source: ImportBinding.Source) {
        guard let type = source.entity.attribute(reading.field.name)?.type else { return }
        let (column, table) = (reading.column, source.table)
        note(reading.field.name, type: type.name, column: column, of: table)
        let values = facts[table].columns[column]
        let inference = AttributeInference(values)
        if inference.type == type {
            guard let remark = inference.remark else { return }
            remarks.add(remark, column: column, of: table, in: schema, isLoss: inference.isLossy)
        } else if values.texts + values.decimals + values.dates > 0, type != .string, type != .uri, type != .binaryData
        {
            remarks.add(
                "the form of its text is not kept in type \(type.name)", column: column, of: table, in: schema,
                isLoss: true)
        }
    }

    private mutating func describe(_ links: ImportBinding.Links) {
        let (table, relationship) = (schema.tables[links.table], links.relationship)
        let destination = binding.model.entities[relationship.destination].name.text
        let inverse = relationship.inverse.map { binding.model.relationships[$0] }
        for column in links.destination.columns {
            note("\(relationship.name)", type: "to many \(destination)", column: column, of: links.table)
        }
        for column in links.source.columns {
            let source = binding.model.entities[relationship.source].name.text
            note(
                "\(inverse?.name ?? relationship.name)", type: "to many \(source)", column: column, of: links.table)
        }
        for (number, key) in table.foreignKeys.enumerated()
        where key.columns == links.source.columns || key.columns == links.destination.columns {
            addDangling(number, of: links.table, name: relationship.name.name)
        }
        for column in Set(links.source.columns + links.destination.columns).sorted() {
            let count = facts[links.table].columns[column].nulls
            guard count > 0 else { continue }
            let rows = count == 1 ? "1 row has no value and makes" : "\(count) rows have no value and make"
            remarks.add("\(rows) no pair", column: column, of: links.table, in: schema, isLoss: true)
        }
    }

    private mutating func note(_ name: String, type: String, column: Int, of table: Int) {
        guard let known = properties[table]?[column] else {
            properties[table, default: [:]][column] = (name, type)
            return
        }
        remarks.add(
            "\(known.name) (\(known.type)) also gets the values of this column", column: column, of: table,
            in: schema, isLoss: false)
        properties[table]?[column] = (name, type)
    }

    private mutating func addDangling(_ number: Int, of table: Int, name: String) {
        let (count, key) = (facts[table].danglingRows[number], schema.tables[table].foreignKeys[number])
        guard count > 0, let column = key.columns.first, let row = facts[table].firstDanglingRow[number] else {
            return
        }
        let rows = count == 1 ? "1 row refers" : "\(count) rows refer"
        remarks.add(
            "\(rows) to a row of '\(schema.tables[key.parent].name)' that does not exist, such as row \(row); relationship '\(name)' gets no object from \(count == 1 ? "this row" : "these rows")",
            column: column, of: table, in: schema, isLoss: true)
    }

    private mutating func table(_ number: Int) -> ImportPlan.Table {
        let table = schema.tables[number]
        let entity = entities[number]
        let isLeftOut = entity == nil && !joins.contains(number)
        if isLeftOut {
            remarks.add("The table is left out.", table: number, name: table.name, isLoss: true)
        }
        if table.hasCheck {
            remarks.add("CHECK constraints are left out.", table: number, name: table.name, isLoss: true)
        }
        for remark in table.remarks { remarks.add(remark, table: number, name: table.name, isLoss: true) }
        var result = ImportPlan.Table(table.name, entity: entity, rows: facts[number].rows)
        for column in table.columns.indices {
            result.columns.append(self.column(column, of: number, isLeftOut: isLeftOut))
        }
        result.remarks = remarks.tables[number] ?? []
        return result
    }

    private mutating func column(_ column: Int, of number: Int, isLeftOut: Bool) -> ImportPlan.Column {
        let table = schema.tables[number]
        let declared = table.columns[column]
        for phrase in table.columnRemarks[column] ?? [] {
            remarks.add(phrase, column: column, of: number, in: schema, isLoss: true)
        }
        let property = properties[number]?[column]
        if table.rowIDColumn == column, facts[number].hasPositiveRowIDs, entities[number] != nil {
            remarks.add("is the key of the objects", column: column, of: number, in: schema, isLoss: false)
        } else if property == nil, !isLeftOut {
            remarks.add("left out", column: column, of: number, in: schema, isLoss: true)
        }
        if declared.isGenerated {
            remarks.add(
                "the expression that computes it is left out", column: column, of: number, in: schema, isLoss: true)
        }
        if declared.collation != "BINARY", property != nil {
            remarks.add(
                "collation \(declared.collation) is left out", column: column, of: number, in: schema, isLoss: true)
        }
        let remark = remarks.columns[number]?[column]?.joined(separator: "; ")
        return ImportPlan.Column(declared.name, property: property?.name, type: property?.type, remark: remark)
    }
}
