#if Interactive
    internal import RoostCore
    internal import RoostJSONText
    internal import RoostQuery
    internal import RoostStores

    /// One object: its values, its related objects, and the relationships that refer to it.
    struct ObjectView {
        /// The maximum number of listed objects of a to-many relationship.
        private static let listedCount = 20
        private static let textLimit = 65_536
        private static let byteLimit = 256

        let viewed: ViewedStore
        let id: ObjectID

        private var model: ManagedObjectModel { viewed.model }

        func answer() throws -> JSONNode { try viewed.read { try node($0) } }

        func node(_ snapshot: any StoreSnapshot) throws -> JSONNode {
            let record = try viewed.record(id, entity: try viewed.entity(id.entity.text), snapshot: snapshot)
            let entity = try model.requireEntity(record.id.entity)
            let lists = try entity.relationships.filter(\.isToMany).map { relationship in
                (relationship, try related(relationship, of: record.id, snapshot: snapshot))
            }
            var titles = ObjectTitles(model)
            try titles.read(
                entity.layout.fields.compactMap { field in
                    guard case .objectID(let id) = record.withReader({ $0.value(field) }) else { return nil }
                    return id
                } + lists.flatMap(\.1.ids), from: snapshot)
            let writer = CellWriter(textLimit: Self.textLimit, byteLimit: Self.byteLimit, titles: titles)
            var properties: [JSONNode] = []
            for column in TableColumn.all(of: entity) {
                let list = lists.first { $0.0.name.name == column.name }?.1
                properties.append(property(column, record: record, entity: entity, list: list, writer: writer))
            }
            for attribute in entity.attributes where attribute.isTransient {
                properties.append(transient(attribute, entity: entity))
            }
            return JSONNode([
                "entity": JSONNode(entity.name.text), "key": JSONNode(record.id.key),
                "version": JSONNode(Int64(record.version)), "title": JSONNode(ObjectTitles.title(record, in: model)),
                "superentities": JSONNode(texts: superentities(of: entity)), "writable": JSONNode(viewed.editor != nil),
                "undo": viewed.undo, "properties": JSONNode(list: properties),
                "referencedBy": JSONNode(list: try references(to: record.id, entity: entity, snapshot: snapshot)),
            ])
        }

        private func superentities(of entity: ManagedObjectModel.Entity) -> [String] {
            var names: [String] = []
            var current = entity.superentity
            while let number = current {
                names.append(model.entities[number].name.text)
                current = model.entities[number].superentity
            }
            return names
        }

        /// Returns the first objects of a to-many relationship, and the number of all its objects.
        private func related(
            _ relationship: ManagedObjectModel.Relationship, of id: ObjectID, snapshot: any StoreSnapshot
        ) throws(StoreError) -> (ids: [ObjectID], count: Int) {
            let destination = model.entities[relationship.destination].name
            let links = try snapshot.links(of: relationship.name, from: id)
            var (ids, count, batch) = ([ObjectID](), 0, LinkBatch(relationship: relationship.number))
            while try links.next(into: &batch) {
                for link in batch.links.prefix(max(0, Self.listedCount - ids.count)) {
                    ids.append(ObjectID(destination, key: link.target))
                }
                count += batch.count
            }
            return (ids, count)
        }

        // MARK: Properties

        private func property(
            _ column: TableColumn, record: Record, entity: ManagedObjectModel.Entity,
            list: (ids: [ObjectID], count: Int)?, writer: CellWriter
        ) -> JSONNode {
            let value = record.withReader { reader in reader.layout.field(column.name).map { reader.value($0) } ?? .null
            }
            var members: [JSONMember] = [JSONMember("name", .string(column.name))]
            func add(_ key: String, node: JSONNode) { members.append(JSONMember(key, node)) }
            add("declaredBy", node: JSONNode(declarer(of: column.name, entity: entity)))
            switch column.content {
            case .attribute(let attribute):
                add("kind", node: JSONNode("attribute"))
                add("type", node: JSONNode(attribute.type.name))
                add("isOptional", node: JSONNode(attribute.isOptional))
                add("isDerived", node: JSONNode(attribute.derivationExpression != nil))
                add("limits", node: JSONNode(ModelView.limits(of: attribute)))
                if !attribute.elements.isEmpty {
                    add("elements", node: JSONNode(list: attribute.elements.map(Self.element)))
                }
                add("value", node: writer.node(value, type: attribute.type, elements: attribute.elements))
            case .toOne(let relationship), .toMany(let relationship):
                add("kind", node: JSONNode(relationship.isToMany ? "toMany" : "toOne"))
                add("isOptional", node: JSONNode(relationship.declaration.isOptional))
                add("isOrdered", node: JSONNode(relationship.isOrdered))
                add("destination", node: JSONNode(model.entities[relationship.destination].name.text))
                add("inverse", node: JSONNode(relationship.inverse.map { model.relationships[$0].name.name }))
                add("deleteRule", node: JSONNode(relationship.declaration.deleteRule.rawValue))
                if let list {
                    add("value", node: JSONNode(["count": JSONNode(list.count)]))
                    add("objects", node: JSONNode(list: list.ids.map { writer.titles.node($0) }))
                } else {
                    add("value", node: writer.node(value))
                }
            }
            return JSONNode(.object(members))
        }

        static func element(_ attribute: AttributeDescription) -> JSONNode {
            JSONNode([
                "name": JSONNode(attribute.name), "type": JSONNode(attribute.type.name),
                "isOptional": JSONNode(attribute.isOptional),
            ])
        }

        private func transient(_ attribute: AttributeDescription, entity: ManagedObjectModel.Entity) -> JSONNode {
            JSONNode([
                "name": JSONNode(attribute.name), "kind": JSONNode("attribute"),
                "type": JSONNode(attribute.type.name),
                "declaredBy": JSONNode(declarer(of: attribute.name, entity: entity)),
                "isOptional": JSONNode(attribute.isOptional), "isTransient": JSONNode(true), "value": .null,
            ])
        }

        /// Returns the entity that declares a property.
        private func declarer(of name: String, entity: ManagedObjectModel.Entity) -> String {
            var current = entity
            while let number = current.superentity,
                model.entities[number].attribute(name) != nil
                    || model.entities[number].relationship(name) != nil
            {
                current = model.entities[number]
            }
            return current.name.text
        }

        // MARK: References to the object

        /// Returns the relationships without an inverse that can refer to the object, with the
        /// number of references.
        private func references(
            to id: ObjectID, entity: ManagedObjectModel.Entity, snapshot: any StoreSnapshot
        ) throws(StoreError) -> [JSONNode] {
            var list: [JSONNode] = []
            for source in model.entities where source.superentity == nil || !source.declaration.relationships.isEmpty {
                for relationship in source.relationships
                where relationship.inverse == nil && relationship.source == source.number
                    && model.entities[relationship.destination].includes(entity.number)
                {
                    let comparison = FetchRequest.Comparison(
                        left: .keyPath([relationship.name.name]), operator: .equal, right: .constant(.objectID(id)),
                        modifier: relationship.isToMany ? .any : .direct)
                    let condition = FetchRequest.Predicate.comparison(comparison)
                    list.append(
                        JSONNode([
                            "entity": JSONNode(source.name.text), "relationship": JSONNode(relationship.name.name),
                            "count": JSONNode(try snapshot.count(FetchRequest(source.name, where: condition))),
                            "where": JSONNode(
                                try PredicateHelp.text(
                                    relationship.name.name, isEqualTo: .objectID(id), entity: source, model: model,
                                    modifier: comparison.modifier)),
                        ]))
                }
            }
            return list
        }
    }
#endif
