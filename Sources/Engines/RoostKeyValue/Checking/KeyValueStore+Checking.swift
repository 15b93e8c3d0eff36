public import RoostCore

extension KeyValueStore {
    /// Examines the storage's structure, every record, entry and link, the tally, the last keys,
    /// the user metadata and the history.
    ///
    /// - Complexity: O(*n* log *n*) in records, links and entries; constant memory.
    public func examineIntegrity() throws(StoreError) -> [StoreFinding] {
        try requireOpen()
        var findings = try storage.integrityFindings()
        let reader = try read()
        defer { reader.close() }
        let check = StoreCheck(plan, reader: reader)
        try check.run()
        findings += check.findings
        return findings
    }
}

final class StoreCheck {
    /// The maximum number of listed findings of one kind; further findings are only counted.
    private static let maximumCount = 50

    private let plan: StorePlan
    private let reader: any KeyValueReader
    private(set) var findings: [StoreFinding] = []
    private var counts: [String: Int] = [:]
    private var tally: StoreTally
    /// The number of entries that the records require in each space.
    private var expected: [KeySpace: Int] = [:]
    /// The spaces in which an entry of a record is missing or has a wrong value.
    private var incomplete: Set<KeySpace> = []
    private var highestKeys: [Int: Int64] = [:]

    private var model: ManagedObjectModel { plan.model }

    init(_ plan: StorePlan, reader: any KeyValueReader) {
        self.plan = plan
        self.reader = reader
        tally = StoreTally(model: plan.model)
    }

    func run() throws(StoreError) {
        try checkRecords()
        for space in [KeySpace.references, .unique, .indexes] { try checkEntries(space) }
        try checkLinks()
        try checkMetadata()
        for (kind, count) in counts.sorted(by: { $0.key < $1.key }) where count > Self.maximumCount {
            findings.append(
                StoreFinding(
                    .damage,
                    message: "\(count - Self.maximumCount) more findings of the kind '\(kind)' are not listed."))
        }
    }

    private func report(_ kind: String, _ message: @autoclosure () -> String) {
        counts[kind, default: 0] += 1
        if counts[kind, default: 0] <= Self.maximumCount { findings.append(StoreFinding(.damage, message: message())) }
    }

    // MARK: Records and their entries

    private func checkRecords() throws(StoreError) {
        let cursor = try reader.cursor(in: .records)
        var (values, scratch) = ([UInt8](), StorageKey())
        while try cursor.next() {
            guard let place = cursor.key.recordPlace, model.entities.indices.contains(place.root),
                model.entities[place.root].root == place.root
            else {
                report("records", "A key in space 'records' belongs to no entity hierarchy of the model.")
                continue
            }
            let (root, key) = (place.root, place.key)
            highestKeys[root] = key
            do throws(StoreError) {
                let record = try RecordVerifier(model: model, root: root).record(cursor.value, key: key)
                tally.entities[record.entityNumber].add(record.computedContentHash)
                try record.validate()
                try RecordEntries.visit(record, plan: plan, values: &values, key: &scratch) {
                    (space, entry) throws(StoreError) in
                    expected[space, default: 0] += 1
                    let value = RecordEntries.value(in: space, object: key)
                    if try reader.value(of: entry, in: space) != value {
                        incomplete.insert(space)
                        report(
                            "\(space)",
                            "The entry of \(record.id) for \(name(entry, space: space)) is missing or wrong in space '\(space)'."
                        )
                    }
                }
            } catch {
                guard error.code == .corrupted else { throw error }
                report("records", error.message)
            }
        }
    }

    /// Returns a description, for messages, of what the number at the start of a key refers to.
    private func name(_ key: StorageKey, space: KeySpace) -> String {
        guard let number = key.number else { return "nothing" }
        switch space {
        case .references where model.relationships.indices.contains(number):
            return "\(model.relationships[number].name)"
        case .unique where plan.constraints.indices.contains(number):
            return "the constraint on \(plan.constraints[number].attributes.joined(separator: ", "))"
        case .indexes:
            return model.fetchIndexes.first { $0.number == number }.map { "index '\($0.declaration.name)'" }
                ?? "no index"
        default: return "number \(number)"
        }
    }

    /// Finds entries that belong to no record.
    ///
    /// ``checkRecords()`` has looked up every required entry. If all were correct and the counts
    /// are equal, no other entries exist.
    private func checkEntries(_ space: KeySpace) throws(StoreError) {
        let cursor = try reader.cursor(in: space)
        var count = 0
        while try cursor.next() { count += 1 }
        guard count != expected[space, default: 0] || incomplete.contains(space) else { return }
        if count != expected[space, default: 0] {
            report(
                "count of \(space)",
                "Space '\(space)' has \(count) entries, but the records require \(expected[space, default: 0]).")
        }
        let walk = try reader.cursor(in: space)
        while try walk.next() {
            let (key, value) = (StorageKey(walk.key), Array(walk.value))
            if try !isBacked(key, value: value, space: space) {
                report("\(space)", "An entry of \(name(key, space: space)) in space '\(space)' belongs to no record.")
            }
        }
    }

    /// Returns whether an entry's record has this entry; true if the record is damaged.
    private func isBacked(_ key: StorageKey, value: [UInt8], space: KeySpace) throws(StoreError) -> Bool {
        let named =
            switch space {
            case .unique: value.littleEndian64(at: 0).map { Int64(bitPattern: $0) }
            case .references: try key.withBytes { (key) throws(StoreError) in LinkKey(key)?.to }
            default: try key.withBytes { (key) throws(StoreError) in key.lastKey }
            }
        guard let object = named, let root = root(key, space: space) else { return false }
        var isFound = false
        do throws(StoreError) {
            try reader.withRecord(object, root: root, model: model) { (record) throws(StoreError) in
                guard let record else { return }
                isFound = RecordEntries.all(of: record, plan: plan).contains { $0.space == space && $0.key == key }
            }
        } catch {
            // The damaged record, whose entries are unknown, has already been reported.
            guard error.code == .corrupted else { throw error }
            return true
        }
        return isFound && RecordEntries.value(in: space, object: object) == value
    }

    /// Returns the root entity of the objects that can have an entry; nil if the model lacks the
    /// entry's number.
    private func root(_ key: StorageKey, space: KeySpace) -> Int? {
        guard let number = key.number else { return nil }
        let entity: Int?
        switch space {
        case .references:
            entity = model.relationships.indices.contains(number) ? model.relationships[number].source : nil
        case .unique: entity = plan.constraints.indices.contains(number) ? plan.constraints[number].entity : nil
        default: entity = model.fetchIndexes.first { $0.number == number }?.entity
        }
        return entity.map { model.entities[$0].root }
    }

    // MARK: Links

    private func checkLinks() throws(StoreError) {
        var counts = [0, 0]
        for (index, space) in [KeySpace.links, .inverseLinks].enumerated() {
            let cursor = try reader.cursor(in: space)
            while try cursor.next() {
                counts[index] += 1
                guard let number = cursor.key.keyNumber, model.relationships.indices.contains(number),
                    model.relationships[number].ownsLinks
                else {
                    report("links", "A key in space '\(space)' belongs to no relationship that stores links.")
                    continue
                }
                let seen: Link
                do throws(StoreError) {
                    seen = try LinkStream.link(cursor.key, value: cursor.value, space: space)
                } catch {
                    report("links", error.message)
                    continue
                }
                let link = space == .links ? seen : seen.flipped
                let name = model.relationships[number].name
                if model.relationships[number].normalized(link) != link {
                    report(
                        "links",
                        "The link p\(link.source) → p\(link.target) of '\(name)' is not in its normal form.")
                }
                let keys = LinkKeys.keys(link, relationship: number)
                let (other, key, value) =
                    space == .links
                    ? (KeySpace.inverseLinks, keys.inverseKey, link.order) : (.links, keys.key, link.inverseOrder)
                if try reader.number(of: key, in: other) != value {
                    report(
                        "links",
                        "The link p\(link.source) → p\(link.target) of '\(name)' is missing or wrong in space '\(other)'."
                    )
                }
                if space == .links {
                    tally.relationships[number].add(RecordHash.link(link, of: number))
                }
            }
        }
        if counts[0] != counts[1] {
            report(
                "links",
                "Space 'links' has \(counted(counts[0], item: "link")), but space 'inverseLinks' has \(counts[1]).")
        }
    }

    // MARK: Metadata

    private func checkMetadata() throws(StoreError) {
        do throws(StoreError) {
            _ = try MetadataDocument.decode(try MetaSpace.require(MetaSpace.userMetadata, reader: reader))
            let recorded = try MetaSpace.readTally(model, reader: reader)
            for (number, entity) in model.entities.enumerated()
            where recorded.entities[number] != tally.entities[number] {
                report(
                    "tally",
                    mismatch(
                        "entity '\(entity.name)'", item: "object", recorded: recorded.entities[number],
                        found: tally.entities[number]))
            }
            for (number, relationship) in model.relationships.enumerated()
            where recorded.relationships[number] != tally.relationships[number] {
                report(
                    "tally",
                    mismatch(
                        "relationship '\(relationship.name)'", item: "link",
                        recorded: recorded.relationships[number], found: tally.relationships[number]))
            }
            for (root, highest) in highestKeys where try MetaSpace.readLastKey(root: root, reader: reader) < highest {
                report(
                    "keys",
                    "The last key recorded for '\(model.entities[root].name)' is below the key of an existing object.")
            }
            findings += try KeyValueHistory(reader).historyFindings(model, at: recorded.generation)
        } catch {
            guard error.code == .corrupted else { throw error }
            report("metadata", error.message)
        }
    }

    private func mismatch(_ what: String, item: String, recorded: Tally, found: Tally) -> String {
        recorded.count == found.count
            ? "The contents of \(what) differ from what the store recorded."
            : "The store recorded \(counted(recorded.count, item: item)) of \(what), but contains \(found.count)."
    }

    private func counted(_ count: Int, item: String) -> String { "\(count) \(item)\(count == 1 ? "" : "s")" }
}
