internal import RoostAppleModels
internal import RoostCore
internal import RoostForeignSQLite
internal import RoostQuery

#if SQLite

    /// A view of a Core Data store, with its own connection.
    final class CoreDataSnapshot: ScanningSnapshot {
        let schema: CoreDataSchema
        private let state: CoreDataStore.State
        private let metadata: [String: MetadataValue]
        private var connection: ForeignDatabase?
        private let source: SourceGuard
        private let external: ExternalData

        var model: ManagedObjectModel { schema.model }

        init(
            _ schema: CoreDataSchema, state: CoreDataStore.State, metadata: [String: MetadataValue],
            database: ForeignDatabase, source: SourceGuard
        ) {
            self.metadata = metadata
            self.schema = schema
            self.state = state
            self.connection = database
            self.source = source
            external = ExternalData(storePath: database.path)
        }

        /// The connection; throws `closed` if the snapshot or the store is closed.
        var database: ForeignDatabase {
            get throws(StoreError) {
                try state.requireOpen()
                guard let connection else { throw StoreError(.closed, "The snapshot was closed.") }
                return connection
            }
        }

        func requireOpen() throws(StoreError) { _ = try database }

        func verifySource() throws(StoreError) { try source.verify() }

        func reader(root: Int) -> CoreDataRowReader? {
            schema.roots[root].map { CoreDataRowReader(schema, root: $0, external: external) }
        }

        func userMetadata() throws(StoreError) -> [String: MetadataValue] {
            try requireOpen()
            return metadata
        }

        func lastKey(of entity: EntityName) throws(StoreError) -> Int64 {
            let database = try database
            let root = try model.requireEntity(entity).root
            guard let known = schema.roots[root] else { return 0 }
            // After a migration in place, the recorded key may be too low.
            let statement = try database.prepare("SELECT max(Z_PK) FROM \(ForeignDatabase.quoted(known.table))")
            let greatest = try statement.step() ? statement.integer(0) : 0
            try verifySource()
            return max(known.recordedLastKey, greatest)
        }

        func records(of entity: EntityName, after id: ObjectID?) throws(StoreError) -> any RecordCursor {
            let database = try database
            let resolved = try model.requireEntity(entity)
            guard let reader = reader(root: resolved.root) else { return FillingRecordCursor(model: model) }
            var conditions = ["r.Z_PK > ?1"]
            if resolved.selfAndSubentities.count < model.entities[resolved.root].selfAndSubentities.count {
                let numbers = resolved.selfAndSubentities.map { String(schema.fileNumbers[$0]) }
                conditions.append("+r.Z_ENT IN (\(numbers.joined(separator: ", ")))")
            }
            // The plus sign prevents SQLite from using the index on Z_ENT and sorting the rows.
            let statement = try database.prepare(
                "\(reader.selection) WHERE \(conditions.joined(separator: " AND ")) ORDER BY r.Z_PK")
            try statement.bind(id?.key ?? 0, at: 1)
            return CoreDataRecordCursor(self, reader: reader, statement: statement)
        }

        func records(with ids: [ObjectID]) throws(StoreError) -> any RecordCursor {
            try requireOpen()
            for name in Set(ids.map(\.entity)) { _ = try model.requireEntity(name) }
            return CoreDataLookupCursor(self, ids: ids)
        }

        func links(of relationship: RelationshipName, after link: Link?) throws(StoreError) -> any LinkCursor {
            let database = try database
            let (owner, isFlipped) = try model.requireLinkRelationship(relationship)
            guard let links = schema.links[owner] else {
                return CoreDataLinkCursor(self, relationship: model.relationships[owner], statement: nil)
            }
            let resolved = try model.requireRelationship(relationship)
            let columns = isFlipped ? "t, s, i, o" : "s, t, o, i"
            let statement = try database.prepare(
                """
                SELECT * FROM (SELECT \(Self.places(columns, relationship: resolved)) FROM (\(links.query)))
                WHERE (a, c, b) > (?1, ?2, ?3) ORDER BY a, c, b
                """)
            let after = link.map { model.relationships[owner].normalized($0, isFlipped: isFlipped) }
            try statement.bind(after?.source ?? Int64.min, at: 1)
            try statement.bind(after?.order ?? Int64.min, at: 2)
            try statement.bind(after?.target ?? Int64.min, at: 3)
            return CoreDataLinkCursor(self, relationship: resolved, statement: statement)
        }

        func links(of relationship: RelationshipName, from id: ObjectID) throws(StoreError) -> any LinkCursor {
            let database = try database
            let resolved = try model.requireRelationship(relationship)
            let query: String
            switch resolved.storage {
            case .field:
                throw StoreError(
                    .invalidRequest, "Relationship '\(relationship)' is to-one: its destination is in the record.")
            case .derived(let inverse):
                guard let reference = schema.references[inverse] else {
                    return CoreDataLinkCursor(self, relationship: resolved, statement: nil)
                }
                let key = ForeignDatabase.quoted(reference.column)
                let order = reference.orderColumn.map(ForeignDatabase.quoted) ?? "0"
                let numbers = reference.entities.map(String.init).joined(separator: ", ")
                query = """
                    SELECT \(key) AS a, Z_PK AS b, coalesce(\(resolved.isOrdered ? order : "0"), 0) AS c, 0 AS d
                    FROM \(ForeignDatabase.quoted(reference.table)) WHERE \(key) = ?1 AND +Z_ENT IN (\(numbers))
                    """
            case .links(let owner, let isFlipped):
                guard let links = schema.links[owner] else {
                    return CoreDataLinkCursor(self, relationship: resolved, statement: nil)
                }
                let forward = Self.places(isFlipped ? "t, s, i, o" : "s, t, o, i", relationship: resolved)
                if resolved.isReflexive {
                    // The inner query returns each pair once. This query returns it in both directions.
                    query = """
                        SELECT \(forward) FROM (\(links.query)) WHERE s = ?1
                        UNION ALL SELECT \(Self.places("t, s, i, o", relationship: resolved)) FROM (\(links.query)) WHERE t = ?1 AND s <> t
                        """
                } else {
                    query = "SELECT \(forward) FROM (\(links.query)) WHERE \(isFlipped ? "t" : "s") = ?1"
                }
            }
            guard try exists(id, relationship: resolved) else {
                return CoreDataLinkCursor(self, relationship: resolved, statement: nil)
            }
            let statement = try database.prepare("SELECT * FROM (\(query)) ORDER BY c, b")
            try statement.bind(id.key, at: 1)
            return CoreDataLinkCursor(self, relationship: resolved, statement: statement)
        }

        /// Returns whether an object with this ID exists and can have the relationship.
        private func exists(
            _ id: ObjectID, relationship: ManagedObjectModel.Relationship
        ) throws(StoreError) -> Bool {
            let database = try database
            let entity = try model.requireEntity(id.entity)
            guard let root = schema.roots[entity.root] else { return false }
            let statement = try database.prepare(
                "SELECT Z_ENT FROM \(ForeignDatabase.quoted(root.table)) WHERE Z_PK = ?1")
            try statement.bind(id.key, at: 1)
            guard try statement.step(), let number = schema.entities[statement.integer(0)] else { return false }
            return entity.includes(number) && model.entities[relationship.source].includes(number)
        }

        func close() { connection = nil }

        /// Returns SQL with the columns a, b, c and d: source, target, position and inverse
        /// position.
        private static func places(_ columns: String, relationship: ManagedObjectModel.Relationship) -> String {
            let names = columns.split(separator: ",").map { $0.trimmingSpaces }
            let order = relationship.isOrdered ? "coalesce(\(names[2]), 0)" : "0"
            let inverse = relationship.inverseIsOrdered ? "coalesce(\(names[3]), 0)" : "0"
            return "\(names[0]) AS a, \(names[1]) AS b, \(order) AS c, \(inverse) AS d"
        }
    }
#endif
