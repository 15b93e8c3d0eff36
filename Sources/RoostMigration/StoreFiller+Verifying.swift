internal import RoostCore

/// What reading the finished destination gave.
struct SecondReading {
    /// Counts and digests of what is there.
    var tally: StoreTally
    /// For each relationship, the references and links to objects that were left out.
    var dangling: [RelationshipCount]
}

extension StoreFiller {
    /// Reads the whole destination, hashing every record and link anew.
    func readAgain(
        _ store: any PersistentStore, expecting copied: CopiedContent, _ memory: PrivateMemory
    ) throws(StoreError) -> SecondReading {
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        let model = snapshot.model
        let expected = copied.tally.digest
        let clock = ContinuousClock()
        let start = clock.now
        var tally = StoreTally(model: model)
        var leftOut = LeftOut(copied.skippedThere ?? copied.skipped, model)
        var records = RecordBatch(model: model)
        var (objects, links) = (0, 0)
        for root in model.roots {
            let name = model.entities[root].name
            let cursor = try snapshot.records(of: name, after: nil)
            while try cursor.next(into: &records) {
                try options.cancellation?.check()
                records.forEachRecord { tally.entities[$0.entityNumber].add($0.computedContentHash) }
                leftOut.count(records)
                objects += records.count
                report(
                    .verifying, name.text, objects: objects, links: links, totalObjects: expected.objectCount,
                    totalLinks: expected.linkCount, seconds: (clock.now - start).inSeconds)
            }
            memory.sample()
        }
        for relationship in model.linkRelationships {
            var batch = LinkBatch(relationship: relationship.number)
            let cursor = try snapshot.links(of: relationship.name, after: nil)
            while try cursor.next(into: &batch) {
                try options.cancellation?.check()
                tally.add(batch)
                leftOut.count(batch, relationship)
                links += batch.count
                report(
                    .verifying, relationship.name.description, objects: objects, links: links,
                    totalObjects: expected.objectCount, totalLinks: expected.linkCount,
                    seconds: (clock.now - start).inSeconds)
            }
        }
        return SecondReading(tally: tally, dangling: leftOut.counts)
    }

    /// Throws code `verificationFailed` unless both tallies agree in each entity and each relationship.
    static func compare(
        _ read: StoreTally, _ found: StoreTally, _ model: ManagedObjectModel, _ url: StoreURL
    ) throws(StoreError) {
        for (entity, (read, found)) in zip(model.entities, zip(read.entities, found.entities)) where read != found {
            throw failure("entity '\(entity.name)'", "objects", read, found, url)
        }
        for (relationship, (read, found)) in zip(model.relationships, zip(read.relationships, found.relationships))
        where read != found {
            throw failure("relationship '\(relationship.name)'", "links", read, found, url)
        }
    }

    private static func failure(
        _ what: String, _ things: String, _ read: Tally, _ found: Tally, _ url: StoreURL
    ) -> StoreError {
        let difference =
            read.count == found.count
            ? "the \(things) of \(what) are not those that were read"
            : "\(read.count) \(things) of \(what) were read, and \(found.count) are there"
        return StoreError(
            .verificationFailed,
            "The finished destination '\(url)' is not what the source holds: \(difference). It was discarded; check the disk and try again, or report it."
        )
    }
}

/// Counts what leads to objects that were left out.
private struct LeftOut {
    private struct Target: Hashable {
        var root: Int
        var key: Int64
    }

    private let model: ManagedObjectModel
    private let targets: Set<Target>
    private let references: [[RecordLayout.Field]]
    private var countByRelationship: [Int]

    init(_ skipped: [ObjectID], _ model: ManagedObjectModel) {
        self.model = model
        targets = Set(skipped.compactMap { id in model.entity(id.entity).map { Target(root: $0.root, key: id.key) } })
        references = model.entities.map { entity in entity.layout.fields.filter { $0.destination != nil } }
        countByRelationship = Array(repeating: 0, count: model.relationships.count)
    }

    mutating func count(_ batch: RecordBatch) {
        guard !targets.isEmpty else { return }
        batch.forEachRecord { record in
            for field in references[record.entityNumber] {
                guard let destination = field.destination, let relationship = field.relationship,
                    let (_, key) = record.reference(field),
                    targets.contains(Target(root: model.entities[destination].root, key: key))
                else { continue }
                countByRelationship[relationship] += 1
            }
        }
    }

    mutating func count(_ batch: LinkBatch, _ relationship: ManagedObjectModel.Relationship) {
        guard !targets.isEmpty else { return }
        let (source, target) = (model.entities[relationship.source].root, model.entities[relationship.destination].root)
        for link in batch.links
        where targets.contains(Target(root: source, key: link.source))
            || targets.contains(Target(root: target, key: link.target))
        {
            countByRelationship[relationship.number] += 1
        }
    }

    var counts: [RelationshipCount] {
        zip(model.relationships, countByRelationship).filter { $1 > 0 }
            .map { RelationshipCount(relationship: $0.name.description, count: $1) }
    }
}
