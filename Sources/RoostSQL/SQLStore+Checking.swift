public import RoostCore

extension SQLStore {
    /// Returns what the database says about its files; everything in it comes out of the store.
    public func notices() throws(StoreError) -> [String] {
        try requireOpen()
        return database.notices
    }

    /// Lets the database check the structure of its file.
    public func requireSoundStructure() throws(StoreError) {
        try requireOpen()
        try reading { (connection) throws(StoreError) in try database.requireSoundStructure(connection) }
    }

    /// Examines the database's file, and every row against the checksum that Roost stored with it.
    ///
    /// A row that another tool changed is read as changed; here it is reported.
    public func integrityFindings() throws(StoreError) -> [StoreFinding] {
        try requireOpen()
        var findings = database.notices.map { StoreFinding(.warning, $0) }
        findings += try database.integrityFindings()
        let connection = try database.beginReading()
        defer { database.endReading(connection) }
        let recorded = try SQLTallies.read(connection, self)
        for table in schema.objectTables { try check(table, recorded, connection, &findings) }
        for case let table? in schema.linkTables { try check(table, recorded, connection, &findings) }
        return findings
    }

    /// The most findings of one table that are listed one by one.
    private static var maximumListed: Int { 100 }

    private func check(
        _ table: SQLTable, _ recorded: StoreTally, _ connection: any SQLConnection, _ findings: inout [StoreFinding]
    ) throws(StoreError) {
        let plan = schema.reading[table.root]
        let lastKey = try Self.lastKey(table.root, connection, self)
        var tallies = [Int: Tally]()
        var count = 0
        func found(_ message: String, severity: StoreFinding.Severity = .damage) {
            count += 1
            if count <= Self.maximumListed { findings.append(StoreFinding(severity, message)) }
        }
        // Two statements walk the same rows: one makes records of them, the other reads what was stored beside.
        try connection.withStatement("SELECT _id, _entity, _checksum FROM \(table.quotedName) ORDER BY _id") {
            (heads) throws(StoreError) in
            try connection.withStatement("SELECT \(plan.columnList) FROM \(table.quotedName) ORDER BY _id") {
                (rows) throws(StoreError) in
                var batch = RecordBatch(model: model)
                var isAtEnd = false
                while !isAtEnd {
                    batch.removeAll()
                    var damage: StoreError?
                    switch try rows.fill(&batch, plan: plan) {
                    case .full: break
                    case .end: isAtEnd = true
                    case .damaged(let error): damage = error
                    }
                    for index in 0..<batch.count + (damage == nil ? 0 : 1) {
                        guard try heads.step() else { break }
                        let key = try heads.integer(at: 0)
                        let hash = UInt64(bitPattern: try heads.integer(at: 2))
                        tallies[Int(truncatingIfNeeded: try heads.integer(at: 1)), default: Tally()].add(hash)
                        guard index < batch.count else {
                            if let damage { found(damage.message) }
                            continue
                        }
                        let id = batch.id(at: index)
                        if key > lastKey {
                            found(
                                "\(id) has a key above the last one that was reserved, \(lastKey); it could be given out again."
                            )
                        }
                        let current = batch.withRecord(at: index) { $0.storedContentHash }
                        if current != hash {
                            found("\(id) was changed by something other than Roost since it was written.")
                        }
                    }
                }
            }
        }
        for number in model.entities[table.root].selfAndSubentities {
            let found = tallies.removeValue(forKey: number) ?? Tally()
            guard found != recorded.entities[number] else { continue }
            findings.append(
                StoreFinding(
                    .damage,
                    "The rows of '\(model.entities[number].name)' are not those that were recorded: \(found.count) rows, \(recorded.entities[number].count) recorded."
                ))
        }
        if count > Self.maximumListed {
            findings.append(
                StoreFinding(
                    .damage, "\(count - Self.maximumListed) more findings in table '\(table.name)' are not listed."))
        }
    }

    private func check(
        _ table: SQLSchema.LinkTable, _ recorded: StoreTally, _ connection: any SQLConnection,
        _ findings: inout [StoreFinding]
    ) throws(StoreError) {
        let number = table.relationship.number
        var tally = Tally()
        try connection.withStatement("SELECT \(SQLLinkColumns(isFlipped: false).list) FROM \(table.quotedName)") {
            (statement) throws(StoreError) in
            var batch = LinkBatch(relationship: number)
            var hasMore = true
            while hasMore {
                batch.removeAll()
                hasMore = try statement.fill(&batch)
                for link in batch.links { tally.add(RecordHash.link(relationship: number, link)) }
            }
        }
        guard tally != recorded.relationships[number] else { return }
        findings.append(
            StoreFinding(
                .damage,
                "The links of '\(table.relationship.name)' are not those that were recorded: \(tally.count) links, \(recorded.relationships[number].count) recorded."
            ))
    }
}
