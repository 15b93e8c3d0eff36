internal import Foundation
internal import RoostCore

/// The mapping from the columns of a text to the fields of an entity.
struct ColumnMapping {
    /// A column, and the field for its values.
    struct Target {
        let position: Int
        let column: String
        /// The name of the property, or the dotted path of a composite's element.
        let property: String
        let field: RecordLayout.Field
        /// The relation that finds objects by the cells, or nil if the cells contain values or
        /// object keys.
        let relation: TextImportOptions.Relation?
    }

    private let options: TextImportOptions
    private let entity: ManagedObjectModel.Entity
    private let model: ManagedObjectModel
    private let properties: BatchProperties
    private let textName: String
    /// The columns whose cells fill fields, in the order of the fields.
    private(set) var targets: [Target] = []
    private(set) var columnCount = 0
    /// The number of columns found so far that belong to the key of the import.
    private(set) var keyCount = 0
    /// The column that fills each field, by the index of the field.
    private var taken: [Int: String] = [:]
    private let names: [String]
    /// The names of the properties that were created from each column.
    private let made: [String: [String]]
    /// The names of properties, grouped by their lowercase letters and digits.
    private let similar: [String: [String]]

    init(
        _ options: TextImportOptions, entity: ManagedObjectModel.Entity, in model: ManagedObjectModel,
        of textName: String
    ) {
        (self.options, self.entity, self.textName, self.model) = (options, entity, textName, model)
        properties = BatchProperties(entity, in: model)
        let declared =
            entity.attributes.map { ($0.name, $0.userInfo[TextModel.originKey]) }
            + entity.relationships.map { ($0.name.name, $0.declaration.userInfo[TextModel.originKey]) }
        names = declared.map(\.0)
        var made: [String: [String]] = [:]
        for (name, origin) in declared { if let origin { made[origin, default: []].append(name) } }
        self.made = made.mapValues { names in names.sorted { ($0.count, $0) < ($1.count, $1) } }
        similar = Dictionary(grouping: names, by: Self.letters)
    }

    private static func letters(_ text: String) -> String { text.lowercased().filter { $0.isLetter || $0.isNumber } }

    /// Finds the fields for all columns that have no field yet.
    ///
    /// - Throws: `unknownProperty` for a column without a property; `invalidRequest` for a column
    ///   that does not fit its property.
    mutating func extend(to columns: [String]) throws(StoreError) {
        while columnCount < columns.count {
            let (position, column) = (columnCount, columns[columnCount])
            columnCount += 1
            guard !options.leftOut.contains(column) else { continue }
            let name = try propertyName(of: column)
            let field: RecordLayout.Field
            var isToOne = false
            switch try properties.property(name) {
            case .field(let found): field = found
            case .toOne(let found, let relationship):
                (field, isToOne) = (found, true)
                try requireDestination(relationship, of: column)
            case .composite:
                throw StoreError(
                    .invalidRequest,
                    "'\(entity.name).\(name)' is a composite; give its elements columns of their own, as in \(name).city."
                )
            }
            if let other = taken.updateValue(column, forKey: field.index) {
                throw StoreError(
                    .invalidRequest,
                    "The columns '\(other)' and '\(column)' of '\(textName)' both belong to '\(entity.name).\(name)'. Leave one out with --without."
                )
            }
            let relation = options.relations.first { $0.column == column }
            guard relation == nil || isToOne else {
                throw StoreError(
                    .invalidRequest,
                    "'\(entity.name).\(name)' is not a relationship, so its column cannot name other objects.")
            }
            if options.key.contains(column) { keyCount += 1 }
            targets.append(Target(position: position, column: column, property: name, field: field, relation: relation))
        }
        targets.sort { $0.field.index < $1.field.index }
    }

    /// Refuses a column whose relation finds objects that the relationship does not allow.
    private func requireDestination(
        _ relationship: ManagedObjectModel.Relationship, of column: String
    ) throws(StoreError) {
        guard let relation = options.relations.first(where: { $0.column == column }) else { return }
        let destination = model.entities[relationship.destination]
        guard !destination.selfAndSubentities.contains(where: { model.entities[$0].name.text == relation.entity })
        else { return }
        throw StoreError(
            .invalidRequest,
            "'\(relationship.name)' refers to objects of '\(destination.name)', not of '\(relation.entity)'.")
    }

    /// Throws `unknownProperty` if the options name a column that the text does not have.
    static func requireColumns(_ options: TextImportOptions, in columns: [String]) throws(StoreError) {
        for name in options.key + options.relations.map(\.column) + options.leftOut.sorted()
        where !columns.contains(name) {
            let hint = nearestName(to: name, among: columns).map { "; did you mean '\($0)'?" } ?? "."
            throw StoreError(.unknownProperty, "The text has no column '\(name)'\(hint)")
        }
    }

    /// Returns the property that was created from a column, or has its name or a similar name.
    ///
    /// Similar names differ only in case and punctuation. Of columns with the same name, the first
    /// gets the property with the shortest name.
    private func propertyName(of column: String) throws(StoreError) -> String {
        if let made = made[column] {
            let free = made.first { name in
                guard let field = entity.layout.field(name) else { return true }
                return taken[field.index] == nil
            }
            if let name = free ?? made.first { return name }
        }
        if entity.layout.field(column) != nil || entity.relationship(column) != nil { return column }
        if let similar = similar[Self.letters(column)], similar.count == 1, let name = similar.first { return name }
        let hint = nearestName(to: column, among: names).map { "; did you mean '\($0)'?" } ?? "."
        throw StoreError(
            .unknownProperty,
            "Entity '\(entity.name)' has no property for the column '\(column)' of '\(textName)'\(hint) Leave a column out with --without=\(column)."
        )
    }
}
