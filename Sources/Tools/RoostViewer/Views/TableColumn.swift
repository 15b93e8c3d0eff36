#if Interactive
    internal import RoostCore
    internal import RoostJSONText
    internal import RoostQuery

    /// A property as the column of a table.
    struct TableColumn {
        enum Content {
            case attribute(AttributeDescription)
            case toOne(ManagedObjectModel.Relationship)
            case toMany(ManagedObjectModel.Relationship)
        }

        /// The maximum number of columns if the request chooses none.
        private static let usualCount = 12

        let name: String
        let content: Content
        /// Whether an index or a uniqueness constraint begins with the property.
        ///
        /// True for every to-one relationship, and false for every to-many relationship.
        let isIndexed: Bool

        /// Returns all columns that an entity's table can have.
        ///
        /// The attribute for titles comes first, then the other attributes, then to-one
        /// relationships, then to-many relationships.
        static func all(of entity: ManagedObjectModel.Entity) -> [TableColumn] {
            let title = ObjectTitles.attribute(of: entity)
            let attributes = entity.attributes.filter(\.isStored)
            let sorted = attributes.filter { $0.name == title } + attributes.filter { $0.name != title }
            return sorted.map {
                TableColumn(
                    name: $0.name, content: .attribute($0), isIndexed: MissingIndex.isIndexed($0.name, of: entity))
            }
                + entity.relationships.filter { !$0.isToMany }
                .map { TableColumn(name: $0.name.name, content: .toOne($0), isIndexed: true) }
                + entity.relationships.filter(\.isToMany)
                .map { TableColumn(name: $0.name.name, content: .toMany($0), isIndexed: false) }
        }

        /// Returns the columns of a ``NameList``, or the default columns for nil.
        ///
        /// - Throws: A ``ViewerError`` for an unknown column name.
        static func chosen(
            _ text: String?, of all: [TableColumn], entity: ManagedObjectModel.Entity
        ) throws(ViewerError) -> [TableColumn] {
            guard let text else {
                return Array(all.filter { if case .toMany = $0.content { false } else { true } }.prefix(usualCount))
            }
            var chosen: [TableColumn] = []
            for name in NameList.parts(text) where !name.isEmpty {
                guard let column = all.first(where: { $0.name == name }) else {
                    let hint = nearestName(to: name, among: all.map(\.name)).map { " Did you mean '\($0)'?" } ?? ""
                    throw ViewerError(
                        .badRequest, code: "unknownProperty",
                        message: "'\(entity.name)' has no property '\(name)'.\(hint)")
                }
                chosen.append(column)
            }
            return chosen
        }

        var type: AttributeType? {
            guard case .attribute(let attribute) = content else { return nil }
            return attribute.type
        }

        var elements: [AttributeDescription] {
            guard case .attribute(let attribute) = content else { return [] }
            return attribute.elements
        }

        func json(_ model: ManagedObjectModel) -> JSONNode {
            var (kind, typeName, destination, isDerived) = ("attribute", String?.none, String?.none, false)
            switch content {
            case .attribute(let attribute):
                typeName = attribute.type.name
                isDerived = attribute.derivationExpression != nil
            case .toOne(let relationship), .toMany(let relationship):
                kind = relationship.isToMany ? "toMany" : "toOne"
                destination = model.entities[relationship.destination].name.text
            }
            return JSONNode([
                "name": JSONNode(name), "kind": JSONNode(kind), "type": JSONNode(typeName),
                "destination": JSONNode(destination), "isSortable": JSONNode(isSortable),
                "isIndexed": JSONNode(isIndexed),
                "isDerived": JSONNode(isDerived),
            ])
        }

        private var isSortable: Bool {
            switch content {
            case .attribute(let attribute):
                ![.binaryData, .transformable, .composite, .objectID, .undefined].contains(attribute.type)
            case .toOne, .toMany: false
            }
        }
    }
#endif
