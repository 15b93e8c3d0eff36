internal import Foundation
internal import RoostCore

/// The model that is inferred from the columns of a text.
struct TextModel {
    /// The key in `userInfo` for the name of the column or table from which a declaration was
    /// created.
    static let originKey = "importedFrom"

    /// The maximum number of columns, including the columns that are left out.
    private static let maximumColumnCount = 65_535

    private let options: TextImportOptions

    init(_ options: TextImportOptions) { self.options = options }

    /// Creates the model.
    ///
    /// - Throws: `invalidModel`; `limitExceeded`; `unknownProperty` if the text lacks a column that
    ///   the options name.
    func make(_ columns: [(name: String, type: AttributeType)]) throws(StoreError) -> ManagedObjectModel {
        guard columns.count <= Self.maximumColumnCount else {
            throw StoreError(
                .limitExceeded,
                "The text has \(columns.count) columns, but the maximum is \(Self.maximumColumnCount). Check whether rows and columns are swapped."
            )
        }
        try ColumnMapping.requireColumns(options, in: columns.map(\.name))
        let counts = Dictionary(columns.map { ($0.name, 1) }, uniquingKeysWith: +)
        var names = ModelNames()
        var entity = EntityDescription(options.entity)
        var others: [String: EntityDescription] = [:]
        var key: [String] = []
        let properties = columns.enumerated().map { index, column in
            options.leftOut.contains(column.name) ? nil : names.name(for: column.name, orElse: "column\(index + 1)")
        }
        for (column, name) in zip(columns, properties) {
            guard let name else { continue }
            if options.key.contains(column.name) { key.append(name) }
            let isRenamed = name != column.name || counts[name] ?? 0 > 1
            guard let relation = options.relations.first(where: { $0.column == column.name }) else {
                var attribute = AttributeDescription(name, type: column.type)
                if isRenamed { attribute.userInfo[Self.originKey] = column.name }
                entity.attributes.append(attribute)
                continue
            }
            guard relation.entity != options.entity else {
                let inverse = Self.inverseName(
                    of: name, taken: properties.compactMap { $0 } + entity.relationships.map(\.name))
                var toOne = RelationshipDescription.toOne(name, to: relation.entity, inverse: inverse)
                if isRenamed { toOne.userInfo[Self.originKey] = column.name }
                entity.relationships += [toOne, .toMany(inverse, to: relation.entity, inverse: name)]
                continue
            }
            var other = others[relation.entity] ?? EntityDescription(relation.entity)
            if !other.attributes.contains(where: { $0.name == relation.attribute }) {
                other.attributes.append(AttributeDescription(relation.attribute, type: column.type))
                other.uniquenessConstraints.append([relation.attribute])
            }
            let attributes = options.relations.filter { $0.entity == relation.entity }.map(\.attribute)
            let inverse = Self.inverseName(
                of: options.entity, taken: attributes + other.relationships.map(\.name))
            other.relationships.append(.toMany(inverse, to: options.entity, inverse: name))
            others[relation.entity] = other
            var toOne = RelationshipDescription.toOne(name, to: relation.entity, inverse: inverse)
            if isRenamed { toOne.userInfo[Self.originKey] = column.name }
            entity.relationships.append(toOne)
        }
        if !key.isEmpty { entity.uniquenessConstraints = [key] }
        return try ManagedObjectModel(
            entities: [entity] + others.values.sorted { $0.name < $1.name })
    }

    /// Returns the name of an inverse relationship, such as `tracks` for `Track`.
    ///
    /// A name that is taken, ignoring case, gets a number.
    private static func inverseName(of entity: String, taken: [String]) -> String {
        let name = entity.prefix(1).lowercased() + entity.dropFirst() + "s"
        let taken = Set(taken.map { $0.lowercased() })
        var (unique, number) = (name, 1)
        while taken.contains(unique.lowercased()) {
            number += 1
            unique = "\(name)\(number)"
        }
        return unique
    }
}
