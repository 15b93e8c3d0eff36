#if Interactive
    internal import RoostCore
    internal import RoostJSONText

    /// Titles of objects, from an attribute of their entity.
    struct ObjectTitles {
        /// The names of attributes for titles, the preferred name first.
        private static let names = [
            "title", "name", "displayName", "fullName", "label", "caption", "subject", "headline", "filename",
            "fileName",
            "lastName", "surname", "email", "username", "summary", "text", "url", "identifier",
        ]
        /// The maximum number of characters of a title.
        private static let length = 80

        private let model: ManagedObjectModel
        /// The titles by ID, with nil for an object without a title.
        ///
        /// IDs of objects that do not exist have no entry.
        private var titles: [ObjectID: String?] = [:]
        /// The actual entity of each object, by ID.
        private var entities: [ObjectID: EntityName] = [:]
        private var requested: Set<ObjectID> = []

        init(_ model: ManagedObjectModel) { self.model = model }

        /// Returns the attribute for titles, or nil if the entity has no text attribute.
        static func attribute(of entity: ManagedObjectModel.Entity) -> String? {
            let texts = entity.attributes.filter { $0.type == .string && $0.isStored }.map(\.name)
            return names.first(where: texts.contains)
                ?? texts.first { name in names.contains { name.lowercased().hasSuffix($0.lowercased()) } }
                ?? texts.first
        }

        static func title(_ record: Record, in model: ManagedObjectModel) -> String? {
            guard let entity = model.entity(record.id.entity), let name = attribute(of: entity),
                let field = entity.layout.field(name),
                case .string(let text) = record.withReader({ $0.value(field) })
            else { return nil }
            let line = text.prefix(length).split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
            return line.isEmpty ? nil : line
        }

        mutating func read(_ ids: some Sequence<ObjectID>, from snapshot: any StoreSnapshot) throws(StoreError) {
            let new = Array(Set(ids).subtracting(requested))
            guard !new.isEmpty else { return }
            requested.formUnion(new)
            // An object can have several IDs: one with its own entity, and one with each superentity.
            var names: [Int: [Int64: [ObjectID]]] = [:]
            for id in new {
                guard let root = model.entity(id.entity)?.root else { continue }
                names[root, default: [:]][id.key, default: []].append(id)
            }
            let cursor = try snapshot.records(with: new)
            var batch = RecordBatch(model: model)
            while try cursor.next(into: &batch) {
                for index in 0..<batch.count {
                    let record = batch.record(at: index)
                    guard let root = model.entity(record.id.entity)?.root else { continue }
                    for id in names[root]?[record.id.key] ?? [] {
                        titles[id] = .some(Self.title(record, in: model))
                        entities[id] = record.id.entity
                    }
                }
            }
        }

        func node(_ id: ObjectID) -> JSONNode {
            guard let title = titles[id] else {
                let isMissing = requested.contains(id)
                return JSONNode([
                    "entity": JSONNode(id.entity.text), "key": JSONNode(id.key), "title": .null,
                    "missing": JSONNode(isMissing),
                ])
            }
            return JSONNode([
                "entity": JSONNode((entities[id] ?? id.entity).text), "key": JSONNode(id.key), "title": JSONNode(title),
            ])
        }
    }
#endif
