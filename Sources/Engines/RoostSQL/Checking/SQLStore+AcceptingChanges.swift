package import RoostCore

extension SQLStore: ChangeAcceptingStore {
    /// Finds the rows and links that another program changed since the last commit.
    package func externalChanges() throws(StoreError) -> ExternalChanges {
        try requireOpen()
        let snapshot = try verifyingSnapshot()
        defer { snapshot.close() }
        return try externalChanges(snapshot).changes
    }

    /// Updates the checksums and versions of the rows that another program changed, and records the
    /// tallies of the current content.
    package func acceptExternalChanges(_ expected: ExternalChanges) throws(StoreError) -> Generation {
        try requireWritable()
        return try reportingAll { () throws(StoreError) in
            let (previous, now) = try accept(expected)
            return (previous, now, now)
        }
    }

    private func accept(_ expected: ExternalChanges) throws(StoreError) -> (previous: Generation, now: Generation) {
        // Damage to the file is not a change by another program, even if all values can be read.
        if let finding = try database.integrityFindings().first {
            throw StoreError(
                .corrupted,
                "'\(database.name)' is damaged, so its content cannot be accepted: \(finding.message). Restore it from a backup."
            )
        }
        var lastKeys = [Int64?](repeating: nil, count: schema.objectTables.count)
        let generations = try writing { (connection) throws(StoreError) -> (previous: Generation, now: Generation) in
            let snapshot = SQLSnapshot(
                store: self, connection: connection, acceptsChanges: false, ownsConnection: false)
            defer { snapshot.close() }
            let (changes, found) = try externalChanges(snapshot)
            guard changes == expected else {
                throw StoreError(
                    .conflict, "'\(location)' changed again after its changes were shown; nothing was accepted.")
            }
            let previous = try SQLTallies.read(connection, store: self).generation
            guard !changes.isEmpty else { return (previous, previous) }
            for (position, table) in schema.objectTables.enumerated() {
                lastKeys[position] = try sign(table, snapshot: snapshot, connection: connection)
            }
            try raiseLastKeys(lastKeys, writer: SQLWriter(connection: connection))
            let now = try SQLTallies.set(found, connection: connection, store: self)
            try finish(
                historyRecorder(.acceptedChanges, author: nil, contextName: nil), from: found.generation, to: now,
                connection: connection)
            return (previous, now)
        }
        noteUsedKeys(lastKeys)
        state.withLock { $0.knownTallies = SQLKnownTallies(model: model) }
        return generations
    }

    /// Returns the changes, and the tallies of the current content.
    ///
    /// - Throws: `corrupted` if the content cannot be accepted.
    private func externalChanges(
        _ snapshot: SQLSnapshot
    ) throws(StoreError) -> (changes: ExternalChanges, found: StoreTally) {
        let recorded = try SQLTallies.read(try snapshot.open(), store: self)
        var found = StoreTally(model: model)
        found.generation = recorded.generation
        var (count, objects) = (0, [ObjectID]())
        for table in schema.objectTables {
            if let message = try impossibleKey(in: table, connection: try snapshot.open()) {
                throw StoreError(.corrupted, "\(message) Repair the row with an SQL tool.")
            }
            try snapshot.walk(table.root) { (row) throws(StoreError) in
                switch row {
                case .unreadable(let error): throw error
                case .sound(let record): found.entities[record.entityNumber].add(record.computedContentHash)
                case .changed(_, let record):
                    found.entities[record.entityNumber].add(record.computedContentHash)
                    count += 1
                    if objects.count < ExternalChanges.listedCount { objects.append(record.id) }
                }
            }
        }
        for case let table? in schema.linkTables {
            let relationship = table.relationship
            let tally = try tally(of: table, connection: try snapshot.open()) { (link) throws(StoreError) in
                guard link.source > 0, link.target > 0, relationship.normalized(link) == link else {
                    throw StoreError(
                        .corrupted,
                        "The link of '\(relationship.name)' from key \(link.source) to key \(link.target) is invalid. Run 'roost check' for details, and repair the link with an SQL tool."
                    )
                }
            }
            found.relationships[relationship.number] = tally
        }
        var entities: [ExternalChanges.Difference] = []
        for entity in model.entities where recorded.entities[entity.number] != found.entities[entity.number] {
            let (before, now) = (recorded.entities[entity.number], found.entities[entity.number])
            // A program that only changes values leaves the stored checksums unchanged. So a different tally of these
            // checksums means that rows were added or removed.
            let stored = try storedTally(of: entity, connection: try snapshot.open())
            entities.append(
                ExternalChanges.Difference(
                    name: entity.name.text, recorded: before.count, found: now.count, hasOtherMembers: stored != before)
            )
        }
        let relationships = zip(model.relationships, zip(recorded.relationships, found.relationships))
            .filter { $1.0 != $1.1 }
            .map {
                ExternalChanges.Difference(
                    name: $0.name.description, recorded: $1.0.count, found: $1.1.count,
                    hasOtherMembers: $1.0.count != $1.1.count)
            }
        return (
            ExternalChanges(
                objectCount: count, objects: objects, entities: entities, relationships: relationships,
                digest: found.digest), found
        )
    }

    /// Returns the tally of the stored checksums of an entity's rows; does not verify them.
    private func storedTally(
        of entity: ManagedObjectModel.Entity, connection: any SQLConnection
    ) throws(StoreError) -> Tally {
        let table = schema.table(of: entity.number).quotedName
        let sql = "SELECT _version, _checksum FROM \(table) WHERE _entity = \(schema.dialect.parameter(1))"
        return try connection.withRows(sql) { (statement) throws(StoreError) -> Tally in
            try statement.bind(.integer(Int64(entity.number)), at: 1)
            var tally = Tally()
            while try statement.step() {
                let version = UInt32(truncatingIfNeeded: try statement.integer(at: 0))
                let checksum = UInt64(bitPattern: try statement.integer(at: 1))
                tally.add(schema.checksum.contentHash(checksum: checksum, version: version))
            }
            return tally
        }
    }

    /// The number of changed rows after which a walk stops, so that they are rewritten.
    private static var signedTogether: Int { 4096 }

    /// Rewrites the changed rows of a table with new checksums and versions.
    ///
    /// - Returns: The highest key of the table; nil if the table is empty.
    private func sign(
        _ table: SQLTable, snapshot: SQLSnapshot, connection: any SQLConnection
    ) throws(StoreError) -> Int64? {
        var highest: Int64?
        var start: Int64? = 0
        while let after = start {
            // The walk must end before the changed rows are written, so it only collects them.
            var changed: [ObjectID] = []
            start = try snapshot.walk(table.root, after: after, until: { changed.count >= Self.signedTogether }) {
                (row) throws(StoreError) in
                switch row {
                case .unreadable(let error): throw error
                case .sound(let record): highest = max(highest ?? 0, record.key)
                case .changed(_, let record):
                    highest = max(highest ?? 0, record.key)
                    changed.append(record.id)
                }
            }
            for id in changed { try sign(id, table: table, connection: connection) }
        }
        return highest
    }

    private func sign(_ id: ObjectID, table: SQLTable, connection: any SQLConnection) throws(StoreError) {
        var batch = RecordBatch(model: model)
        let reason = try connection.withStatement(schema.reading.lookupSQL(table.root)) {
            (statement) throws(StoreError) -> StoreError? in
            try SQLRecordAccess(statement).look(
                up: id.key, into: &batch, plan: schema.reading[table.root], accepting: true)
        }
        if let reason { throw reason }
        guard !batch.isEmpty, batch.version(at: 0) < UInt32.max else {
            throw StoreError(
                .limitExceeded, "The versions of \(id) are used up, or the object disappeared; nothing was accepted.")
        }
        try batch.withRecord(at: 0) { (record) throws(StoreError) in
            try connection.withStatement(table.writing.updateSQL) { (statement) throws(StoreError) in
                try SQLRecordAccess(statement).bind(
                    record, version: record.version + 1, columns: table.writing.columns, at: 1)
                while try statement.step() {}
            }
        }
        guard connection.changedRowCount == 1 else {
            throw StoreError(.internalInconsistency, "The row of \(id) was not found; nothing was accepted.")
        }
    }
}
