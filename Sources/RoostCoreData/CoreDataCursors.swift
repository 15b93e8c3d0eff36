#if SQLite
    internal import RoostCore

    /// Reads the records of one table in key order, a batch at a time.
    final class CoreDataRecordCursor: RecordCursor {
        private let snapshot: CoreDataSnapshot
        private let reader: CoreDataRowReader
        private var statement: ReadOnlyStatement?
        private var pendingError: StoreError?

        init(_ snapshot: CoreDataSnapshot, _ reader: CoreDataRowReader, _ statement: ReadOnlyStatement) {
            self.snapshot = snapshot
            self.reader = reader
            self.statement = statement
        }

        func next(into batch: inout RecordBatch) throws(StoreError) -> Bool {
            try batch.requireModel(snapshot.model)
            batch.removeAll()
            do throws(StoreError) {
                if let error = pendingError {
                    pendingError = nil
                    throw error
                }
                try snapshot.requireOpen()
                guard let statement else { return false }
                while !batch.isFull {
                    guard try statement.step() else {
                        self.statement = nil
                        break
                    }
                    do throws(StoreError) {
                        _ = try reader.append(statement, to: &batch)
                    } catch {
                        // The records before a damaged one are given out first.
                        guard error.damagedObject != nil, !batch.isEmpty else { throw error }
                        pendingError = error
                        break
                    }
                }
                try snapshot.verifySource()
            } catch {
                batch.removeAll()
                if error.damagedObject == nil { statement = nil }
                throw error
            }
            return !batch.isEmpty
        }
    }

    /// Reads records by their IDs, in the order of the IDs.
    final class CoreDataLookupCursor: RecordCursor {
        private let snapshot: CoreDataSnapshot
        private let ids: [ObjectID]
        private var position = 0
        /// Readers and statements by root entity number.
        private var lookups: [Int: (reader: CoreDataRowReader, statement: ReadOnlyStatement)] = [:]
        private var pendingError: StoreError?

        init(_ snapshot: CoreDataSnapshot, _ ids: [ObjectID]) {
            self.snapshot = snapshot
            self.ids = ids
        }

        func next(into batch: inout RecordBatch) throws(StoreError) -> Bool {
            try batch.requireModel(snapshot.model)
            batch.removeAll()
            do throws(StoreError) {
                if let error = pendingError {
                    pendingError = nil
                    throw error
                }
                try snapshot.requireOpen()
                while position < ids.count, !batch.isFull {
                    let id = ids[position]
                    position += 1
                    do throws(StoreError) {
                        try append(id, to: &batch)
                    } catch {
                        guard error.damagedObject != nil, !batch.isEmpty else { throw error }
                        pendingError = error
                        break
                    }
                }
                try snapshot.verifySource()
            } catch {
                batch.removeAll()
                if error.damagedObject == nil { position = ids.count }
                throw error
            }
            return !batch.isEmpty
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
            // A record of a superentity or of a sibling is not the one that was asked for.
            guard let number = snapshot.schema.entities[statement.integer(1)], entity.includes(number) else { return }
            _ = try reader.append(statement, to: &batch)
        }
    }

    /// Reads links, a batch at a time.
    final class CoreDataLinkCursor: LinkCursor {
        private let snapshot: CoreDataSnapshot
        private let relationship: ManagedObjectModel.Relationship
        private var statement: ReadOnlyStatement?

        /// Reads links from a statement that gives source, target, place and place in the inverse, seen from `relationship`.
        init(
            _ snapshot: CoreDataSnapshot, _ relationship: ManagedObjectModel.Relationship,
            _ statement: ReadOnlyStatement?
        ) {
            self.snapshot = snapshot
            self.relationship = relationship
            self.statement = statement
        }

        func next(into batch: inout LinkBatch) throws(StoreError) -> Bool {
            batch.removeAll()
            batch.relationship = relationship.number
            do throws(StoreError) {
                try snapshot.requireOpen()
                while let statement, !batch.isFull {
                    guard try statement.step() else {
                        self.statement = nil
                        break
                    }
                    let (source, target) = (statement.integer(0), statement.integer(1))
                    guard source > 0, target > 0 else { continue }
                    batch.links.append(
                        Link(source, target, order: statement.integer(2), inverseOrder: statement.integer(3)))
                }
                try snapshot.verifySource()
            } catch {
                batch.removeAll()
                statement = nil
                throw error
            }
            return !batch.isEmpty
        }
    }
#endif
