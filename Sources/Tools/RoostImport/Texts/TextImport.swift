package import RoostCore
internal import RoostMigration
internal import RoostQuery
internal import RoostStores
internal import RoostSystem

/// The rows of a text as objects of one entity.
///
/// Without a model, the initializer reads all rows to infer one. ``send(to:)`` creates the objects
/// of a new store, with the keys 1, 2, …. ``insert(into:author:isNew:)`` inserts objects into any
/// store. The memory does not grow with the text.
package final class TextImport: MadeContent {
    /// The number of rows whose related objects are found together.
    static let chunkCount = 2_000
    /// The maximum number of rows in one transaction of an import with a key.
    static let keyedCount = 20_000

    package let model: ManagedObjectModel
    /// The plan for an inferred model, or an empty plan if the model was given.
    package let plan: ImportPlan
    let input: ImportInput
    let options: TextImportOptions
    let format: CellFormat
    let entity: ManagedObjectModel.Entity
    let rules: ModelRules
    let checkCancellation: @Sendable () throws(StoreError) -> Void
    let faults: FaultyRowList
    /// Warnings about inferred columns that do not keep the form of all cells.
    private let losses: [String]
    /// For each column, the number of dates whose offset from UTC is not kept.
    ///
    /// Empty for an inferred model, because ``losses`` reports these dates.
    private let offsets = Mutex<[String: Int]>([:])

    /// Prepares an import, and infers a model that fits all rows if `model` is nil.
    ///
    /// - Throws: `invalidValue` with line and column for a text that cannot be read;
    ///   `unknownEntity`, `unknownProperty`, `invalidRequest`, `invalidModel`, `limitExceeded`,
    ///   `ioFailure`; `conflict` if the text changes while it is read.
    package init(
        _ input: ImportInput, options: TextImportOptions, model: ManagedObjectModel?, faults: FaultyRowList,
        checkCancellation: @escaping @Sendable () throws(StoreError) -> Void
    ) throws(StoreError) {
        (self.input, self.options, self.faults) = (input, options, faults)
        self.checkCancellation = checkCancellation
        format = try options.cellFormat()
        if let model {
            self.model = model
            plan = ImportPlan()
            losses = []
        } else {
            let columns = try Self.profile(input, options: options, format: format, faults: faults, checkCancellation)
            losses = columns.filter { $0.isLossy && !options.leftOut.contains($0.name) }
                .map { Self.loss(of: $0.name, remark: $0.remark ?? "") }
            self.model = try TextModel(options).make(columns.map { ($0.name, $0.type) })
            plan = try Self.plan(columns, of: input.name, model: self.model, options: options)
        }
        rules = try ModelRules(self.model)
        entity = try Self.entity(options.entity, model: self.model)
        guard !entity.isAbstract else {
            throw StoreError(
                .invalidRequest, "Entity '\(entity.name)' is abstract and has no objects of its own.")
        }
        try requireKey()
        try requireKeyOfOwnRelations()
        // The columns of JSON are known only at the end of the text.
        guard options.format == .csv || options.format == .tsv else { return }
        let columns = try reader().columns
        try ColumnMapping.requireColumns(options, in: columns)
        var mapping = ColumnMapping(options, entity: entity, in: self.model, of: input.name)
        try mapping.extend(to: columns)
    }

    package func warnings() -> [String] {
        let offsets = offsets.withLock { $0 }.sorted { $0.key < $1.key }
        return losses + offsets.map { Self.loss(of: $0.key, remark: ColumnProfile.remark(offsetCount: $0.value)) }
            + (faults.summary.map { [$0] } ?? [])
    }

    private static func loss(of column: String, remark: String) -> String { "Column '\(column)': \(remark)." }

    package var sourceName: String { input.name }
    package var entityName: String { entity.name.text }

    /// Whether ``send(to:)`` supports this import.
    ///
    /// ``insert(into:author:isNew:)`` supports every import.
    package var canBeSent: Bool {
        options.key.isEmpty && options.relations.isEmpty && !rules.hasDerivedAttributes && entity.relationships.isEmpty
            && !BatchProperties(entity, in: model).hasComposites
    }

    static func entity(
        _ name: String, model: ManagedObjectModel
    ) throws(StoreError) -> ManagedObjectModel.Entity {
        if let entity = model.entities.first(where: { $0.name.text == name }) { return entity }
        let names = model.entities.map(\.name.text)
        let hint =
            nearestName(to: name, among: names).map { "did you mean '\($0)'?" }
            ?? "it has \(names.joined(separator: ", "))."
        throw StoreError(.unknownEntity, "The model has no entity '\(name)'; \(hint)")
    }

    /// Returns the columns whose dates in the current row have an offset from UTC.
    ///
    /// Returns none for an inferred model, because ``losses`` reports these dates. Returns none
    /// with a date pattern, which cannot contain an offset.
    func columnsWithOffset(of reader: any TextRowReader, targets: [ColumnMapping.Target]) -> [String] {
        guard plan.tables.isEmpty, format.datePattern == nil else { return [] }
        let cells = reader.row.cells
        return targets.filter { target in
            guard target.field.kind == .date, target.position < cells.count else { return false }
            switch cells[target.position].kind {
            case .absent, .null: return false
            default: return CellFormat.hasOffset(reader.bytes(of: cells[target.position]))
            }
        }.map(\.column)
    }

    /// Counts a date with an offset from UTC for each column.
    func addOffsets(_ columns: [String]) {
        guard !columns.isEmpty else { return }
        offsets.withLock { counts in
            for column in columns { counts[column, default: 0] += 1 }
        }
    }

    func reader() throws(StoreError) -> any TextRowReader { try Self.reader(input, options: options) }

    private static func reader(
        _ input: ImportInput, options: TextImportOptions
    ) throws(StoreError) -> any TextRowReader {
        switch options.format {
        case .json, .jsonl:
            return try JSONRowReader(input, encoding: options.encoding, isLines: options.format == .jsonl)
        case .csv, .tsv:
            return try DelimitedReader(
                input, encoding: options.encoding,
                delimiter: options.delimiter ?? (options.format == .tsv ? UInt8(ascii: "\t") : nil),
                hasHeader: options.hasHeader)
        }
    }

    /// Requires a uniqueness constraint with exactly the properties of the key, to find existing
    /// objects.
    private func requireKey() throws(StoreError) {
        guard !options.key.isEmpty else { return }
        var mapping = ColumnMapping(options, entity: entity, in: model, of: input.name)
        try mapping.extend(to: options.key)
        let properties = Set(mapping.targets.map(\.property))
        guard !entity.uniquenessConstraints.contains(where: { Set($0.attributes) == properties }) else { return }
        throw StoreError(
            .invalidRequest,
            "'\(entity.name)' has no uniqueness constraint of \(properties.sorted().map { "'\($0)'" }.joined(separator: ", ")), so these values do not identify an object. Add this constraint to the model, and migrate the store."
        )
    }

    /// Requires that references between rows of the text use the key of the import.
    ///
    /// Otherwise a related object would be inserted twice: for the relation, and for its own row.
    private func requireKeyOfOwnRelations() throws(StoreError) {
        for relation in options.relations where relation.entity == options.entity {
            guard options.key != [relation.attribute] else { continue }
            throw StoreError(
                .invalidRequest,
                "The column '\(relation.column)' names other rows, so rows need the key '\(relation.attribute)'. Add --key=\(relation.attribute)."
            )
        }
    }

    // MARK: Inference

    private struct ProfiledColumn {
        var name: String
        var type: AttributeType
        var remark: String?
        /// Whether the stored values of some cells do not keep the form of the text.
        var isLossy: Bool
        var rowCount: Int
    }

    private static func profile(
        _ input: ImportInput, options: TextImportOptions, format: CellFormat, faults: FaultyRowList,
        _ checkCancellation: () throws(StoreError) -> Void
    ) throws(StoreError) -> [ProfiledColumn] {
        let reader = try reader(input, options: options)
        var profiles: [ColumnProfile] = []
        var rowCount = 0
        while try reader.next() {
            rowCount += 1
            if rowCount % 4096 == 0 { try checkCancellation() }
            if let problem = reader.row.problem {
                try faults.look(problem, line: reader.row.line, of: input.name)
                continue
            }
            while profiles.count < reader.columns.count { profiles.append(ColumnProfile(format)) }
            for (index, cell) in reader.row.cells.enumerated() {
                profiles[index].add(cell.kind, bytes: reader.bytes(of: cell))
            }
        }
        while profiles.count < reader.columns.count { profiles.append(ColumnProfile(format)) }
        try input.requireUnchanged()
        return zip(reader.columns, profiles).map { name, profile in
            let found = profile.type
            return ProfiledColumn(
                name: name, type: found.type, remark: found.remark, isLossy: found.isLossy, rowCount: rowCount)
        }
    }

    private static func plan(
        _ columns: [ProfiledColumn], of name: String, model: ManagedObjectModel, options: TextImportOptions
    ) throws(StoreError) -> ImportPlan {
        var table = ImportPlan.Table(name, entity: options.entity, rows: columns.first?.rowCount ?? 0)
        let entity = try entity(options.entity, model: model)
        var mapping = ColumnMapping(options, entity: entity, in: model, of: name)
        try mapping.extend(to: columns.map(\.name))
        let targets = Dictionary(mapping.targets.map { ($0.position, $0) }, uniquingKeysWith: { first, _ in first })
        let types = Dictionary(
            entity.attributes.map { ($0.name, $0.type.name) }, uniquingKeysWith: { first, _ in first })
        for (position, column) in columns.enumerated() {
            let target = targets[position]
            let type = target.flatMap { target in
                target.relation.map { "to \($0.entity)" } ?? types[target.property]
            }
            table.columns.append(
                ImportPlan.Column(
                    column.name, property: target?.property, type: type,
                    remark: target == nil ? "left out" : column.remark))
        }
        var plan = ImportPlan()
        plan.tables = [table]
        return plan
    }
}
