public import RoostCore

extension SQLStore {
    /// Returns the database's notices about its files, and the accepted changes of other programs.
    public func contentNotices() throws(StoreError) -> [String] {
        try requireOpen()
        guard acceptsChanges else { return database.notices }
        let changes = try externalChanges()
        return database.notices + changes.sentences.map { "Accepted as it is: \($0)" }
    }

    /// Checks the structure of the database's file.
    public func checkStructure() throws(StoreError) {
        try requireOpen()
        // A server has no file to check, and has only a limited number of connections for reading.
        guard !(database is any SQLParallelDatabase) else { return }
        try reading { (connection) throws(StoreError) in try database.requireSoundStructure(connection) }
    }

    /// Examines the database's file, the checksums of rows, the last keys and the history, and
    /// compares all rows and links with the tallies.
    public func examineIntegrity() throws(StoreError) -> [StoreFinding] {
        try requireOpen()
        var findings = database.notices.map { StoreFinding(.warning, message: $0) }
        findings += try database.integrityFindings()
        let snapshot = try verifyingSnapshot()
        defer { snapshot.close() }
        let recorded: StoreTally
        do throws(StoreError) {
            recorded = try SQLTallies.read(try snapshot.open(), store: self)
        } catch  where error.code == .corrupted {
            findings.append(StoreFinding(.damage, message: error.message))
            recorded = StoreTally(model: model)
        }
        for table in schema.objectTables {
            try check(table, recorded: recorded, snapshot: snapshot, findings: &findings)
        }
        findings += try history(try snapshot.open()).historyFindings(model, at: recorded.generation)
        for case let table? in schema.linkTables {
            try check(table, recorded: recorded, connection: try snapshot.open(), findings: &findings)
        }
        return findings
    }

    /// Returns a snapshot that rejects rows with wrong checksums, even if the store accepts them.
    func verifyingSnapshot() throws(StoreError) -> SQLSnapshot {
        SQLSnapshot(store: self, connection: try database.beginReading(), acceptsChanges: false)
    }

    /// The maximum number of listed findings for one table.
    private static var maximumListed: Int { 100 }

    private func check(
        _ table: SQLTable, recorded: StoreTally, snapshot: SQLSnapshot, findings: inout [StoreFinding]
    ) throws(StoreError) {
        var listed: [StoreFinding] = []
        var lastKey = Int64.max
        do throws(StoreError) {
            lastKey = try Self.lastKey(table.root, connection: try snapshot.open(), store: self)
        } catch  where error.code == .corrupted {
            listed.append(StoreFinding(.damage, message: error.message))
        }
        var tallies = [Int: Tally]()
        var count = 0
        func found(_ message: String) {
            count += 1
            if count <= Self.maximumListed { listed.append(StoreFinding(.damage, message: message)) }
        }
        do throws(StoreError) {
            if let message = try impossibleKey(in: table, connection: try snapshot.open()) { found(message) }
            try snapshot.walk(table.root) { row throws(StoreError) in
                switch row {
                case .unreadable(let error): found(error.message)
                case .changed(let error, let record):
                    found(error.message)
                    tallies[record.entityNumber, default: Tally()].add(record.computedContentHash)
                case .sound(let record):
                    tallies[record.entityNumber, default: Tally()].add(record.computedContentHash)
                    guard record.key > lastKey else { return }
                    found(
                        "\(record.id) has a key above the last reserved key, \(lastKey); a new object could get the same key."
                    )
                }
            }
        } catch  where error.code == .corrupted {
            found(error.message)
        }
        for number in model.entities[table.root].selfAndSubentities {
            let found = tallies[number] ?? Tally()
            guard found != recorded.entities[number] else { continue }
            listed.append(
                StoreFinding(
                    .damage,
                    message:
                        "The number or contents of the rows of '\(model.entities[number].name)' differ from what the store recorded: \(found.count) rows, \(recorded.entities[number].count) recorded."
                ))
        }
        if count > Self.maximumListed {
            listed.append(
                StoreFinding(
                    .damage,
                    message: "\(count - Self.maximumListed) more findings in table '\(table.name)' are not listed."))
        }
        findings += listed
    }

    /// Returns a sentence about the first row with a key that no object can have, or nil.
    ///
    /// A walk through the table omits such rows.
    func impossibleKey(in table: SQLTable, connection: any SQLConnection) throws(StoreError) -> String? {
        let sql =
            "SELECT _id FROM \(table.quotedName) WHERE _id < 1 ORDER BY _id \(schema.dialect.limit("1", offset: nil))"
        return try connection.integer(sql).map {
            "Table '\(table.name)' has a row with the key \($0), which no object can have: keys begin at 1."
        }
    }

    private func check(
        _ table: SQLSchema.LinkTable, recorded: StoreTally, connection: any SQLConnection,
        findings: inout [StoreFinding]
    ) throws(StoreError) {
        let number = table.relationship.number
        let tally: Tally
        do throws(StoreError) {
            tally = try self.tally(of: table, connection: connection) { _ in }
        } catch  where error.code == .corrupted {
            findings.append(StoreFinding(.damage, message: error.message))
            return
        }
        guard tally != recorded.relationships[number] else { return }
        findings.append(
            StoreFinding(
                .damage,
                message:
                    "The number or contents of the links of '\(table.relationship.name)' differ from what the store recorded: \(tally.count) links, \(recorded.relationships[number].count) recorded."
            ))
    }

    func tally(
        of table: SQLSchema.LinkTable, connection: any SQLConnection, _ body: (Link) throws(StoreError) -> Void
    ) throws(StoreError) -> Tally {
        let number = table.relationship.number
        var tally = Tally()
        try connection.withRows("SELECT \(SQLLinkColumns(isFlipped: false).list) FROM \(table.quotedName)") {
            (statement) throws(StoreError) in
            var batch = LinkBatch(relationship: number)
            var hasMore = true
            while hasMore {
                batch.removeAll()
                hasMore = try statement.fill(&batch)
                for link in batch.links {
                    tally.add(RecordHash.link(link, of: number))
                    try body(link)
                }
            }
        }
        return tally
    }
}

enum SQLWalkedRow {
    /// The values match the checksum.
    case sound(RecordReader)
    /// The values do not match the checksum, but are valid.
    case changed(StoreError, RecordReader)
    case unreadable(StoreError)
}

extension SQLSnapshot {
    /// Calls `body` with all rows of a hierarchy in key order, including rows that do not match
    /// their checksums.
    ///
    /// Calls `isDone` after each batch or damaged row, and then ends the walk if it returns true.
    ///
    /// - Returns: The key of the last row that was read; nil at the end of the table.
    @discardableResult
    func walk(
        _ root: Int, after key: Int64 = 0, until isDone: () -> Bool = { false },
        _ body: (SQLWalkedRow) throws(StoreError) -> Void
    ) throws(StoreError) -> Int64? {
        let name = model.entities[root].name
        let cursor = try records(of: name, after: ObjectID(name, key: key))
        var batch = RecordBatch(model: model)
        var lastKey = key
        while true {
            var damage: StoreError?
            do throws(StoreError) {
                guard try cursor.next(into: &batch) else { return nil }
            } catch  where error.damagedObject != nil {
                damage = error
            }
            if let damage {
                lastKey = max(lastKey, damage.damagedObject?.key ?? lastKey)
                try walk(damaged: damage, batch: &batch, body)
            } else {
                try batch.forEachRecord { (record) throws(StoreError) in try body(.sound(record)) }
                lastKey = batch.isEmpty ? lastKey : batch.key(at: batch.count - 1)
            }
            if isDone() { return lastKey }
        }
    }

    private func walk(
        damaged error: StoreError, batch: inout RecordBatch, _ body: (SQLWalkedRow) throws(StoreError) -> Void
    ) throws(StoreError) {
        batch.removeAll()
        guard error.code == .corrupted, let id = error.damagedObject else { return try body(.unreadable(error)) }
        let lookup = try lookup(id.entity)
        let reason = try lookup.access.look(up: id.key, into: &batch, plan: lookup.plan, accepting: true)
        guard reason == nil, !batch.isEmpty else { return try body(.unreadable(error)) }
        try batch.withRecord(at: 0) { (record) throws(StoreError) in try body(.changed(error, record)) }
    }
}
