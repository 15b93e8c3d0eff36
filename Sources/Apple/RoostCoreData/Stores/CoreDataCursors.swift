internal import RoostCore
internal import RoostForeignSQLite

#if SQLite
    /// A cursor over the records of one table, in key order.
    final class CoreDataRecordCursor: FillingRecordCursor {
        private let snapshot: CoreDataSnapshot
        private let reader: CoreDataRowReader
        private var statement: ForeignStatement?

        init(_ snapshot: CoreDataSnapshot, reader: CoreDataRowReader, statement: ForeignStatement) {
            self.snapshot = snapshot
            self.reader = reader
            self.statement = statement
            super.init(model: snapshot.model)
        }

        override func requireOpen() throws(StoreError) { try snapshot.requireOpen() }
        override func finish() { statement = nil }

        override func fill(_ batch: inout RecordBatch) throws(StoreError) -> Bool {
            try snapshot.verifyingSource { () throws(StoreError) in
                guard let statement else { return false }
                while !batch.isFull {
                    guard try statement.step() else { return false }
                    _ = try reader.append(statement, to: &batch)
                }
                return true
            }
        }
    }

    /// A cursor over the records with the given IDs, in the order of the IDs.
    final class CoreDataLookupCursor: FillingRecordCursor {
        private let snapshot: CoreDataSnapshot
        private let ids: [ObjectID]
        private var position = 0
        /// The readers and statements by root entity number.
        private var lookups: [Int: (reader: CoreDataRowReader, statement: ForeignStatement)] = [:]

        init(_ snapshot: CoreDataSnapshot, ids: [ObjectID]) {
            self.snapshot = snapshot
            self.ids = ids
            super.init(model: snapshot.model)
        }

        override func requireOpen() throws(StoreError) { try snapshot.requireOpen() }

        override func fill(_ batch: inout RecordBatch) throws(StoreError) -> Bool {
            try snapshot.verifyingSource { () throws(StoreError) in
                while position < ids.count, !batch.isFull {
                    let id = ids[position]
                    position += 1
                    try append(id, to: &batch)
                }
                return position < ids.count
            }
        }

        private func append(_ id: ObjectID, to batch: inout RecordBatch) throws(StoreError) {
            let model = snapshot.model
            let entity = try model.requireEntity(id.entity)
            if lookups[entity.root] == nil {
                guard let reader = snapshot.reader(root: entity.root) else { return }
                lookups[entity.root] = (
                    reader, try snapshot.database.prepare(reader.selection + " WHERE r.Z_PK = ?1")
                )
            }
            guard let (reader, statement) = lookups[entity.root] else { return }
            statement.reset()
            try statement.bind(id.key, at: 1)
            guard try statement.step() else { return }
            // Skip an object whose entity is neither the ID's entity nor one of its subentities.
            guard let number = snapshot.schema.entities[statement.integer(1)], entity.includes(number) else { return }
            _ = try reader.append(statement, to: &batch)
        }
    }

    /// A cursor over the links of one relationship.
    final class CoreDataLinkCursor: FillingLinkCursor {
        private let snapshot: CoreDataSnapshot
        private var statement: ForeignStatement?

        /// Creates a cursor over rows of source key, target key, position and inverse position.
        init(
            _ snapshot: CoreDataSnapshot, relationship: ManagedObjectModel.Relationship,
            statement: ForeignStatement?
        ) {
            self.snapshot = snapshot
            self.statement = statement
            super.init(relationship: relationship.number)
        }

        override func requireOpen() throws(StoreError) { try snapshot.requireOpen() }
        override func finish() { statement = nil }

        override func fill(_ batch: inout LinkBatch) throws(StoreError) -> Bool {
            try snapshot.verifyingSource { () throws(StoreError) in
                guard let statement else { return false }
                while !batch.isFull {
                    guard try statement.step() else { return false }
                    let (source, target) = (statement.integer(0), statement.integer(1))
                    guard source > 0, target > 0 else { continue }
                    batch.links.append(
                        Link(source, target, order: statement.integer(2), inverseOrder: statement.integer(3)))
                }
                return true
            }
        }
    }

    extension CoreDataSnapshot {
        /// Runs `body`, then verifies that the source files have not changed.
        ///
        /// A damaged record may be the effect of such a change.
        fileprivate func verifyingSource(
            _ body: () throws(StoreError) -> Bool
        ) throws(StoreError) -> Bool {
            do throws(StoreError) {
                let isMore = try body()
                try verifySource()
                return isMore
            } catch {
                if error.damagedObject != nil { try verifySource() }
                throw error
            }
        }
    }
#endif
