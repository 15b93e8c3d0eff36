internal import Foundation
internal import RoostCore
internal import RoostFiles

/// The content that a migration in three passes creates from a store.
struct PolicyContent: StoreContents {
    struct Outcome: Sendable {
        /// The numbers of objects read and created, by entity mapping.
        var counts: [(read: Int, made: Int)] = []
        /// Messages about objects that policies dropped and about IDs that became null.
        var losses: [String] = []
    }

    let source: any PersistentStore
    let model: ManagedObjectModel
    let mapping: MappingModel
    let options: MigrationOptions
    let outcome = Mutex(Outcome())

    func identity() throws(StoreError) -> (storeUUID: StoreUUID, userMetadata: [String: MetadataValue]) {
        let metadata = try source.metadata()
        return (metadata.storeUUID, metadata.userMetadata)
    }

    func notices() throws(StoreError) -> [String] {
        try StoreContent(source, options: options.conversion).notices()
    }

    /// Runs the three passes on a new thread, then computes derived attributes.
    ///
    /// Policies are created and called on that thread.
    func fill(
        _ store: any PersistentStore, by destinationWriter: DestinationWriter, memory: PrivateMemory
    ) throws(StoreError) -> CopiedContent {
        let derivedValues = try DerivedValues(in: store, by: destinationWriter)
        let migration = try WorkerThread("roost-migration") { () throws(StoreError) in
            let snapshot = try source.snapshot()
            defer { snapshot.close() }
            return try PolicyMigration(
                self, snapshot: snapshot, store: store, destinationWriter: destinationWriter, memory: memory
            ).run()
        }
        var copied = try migration.join().get()
        try derivedValues.write(updating: &copied)
        memory.sample()
        return copied
    }
}

/// A migration in three passes, on its own thread.
final class PolicyMigration {
    /// The maximum number of batches in transit to the writing thread.
    private static let channelCapacity = 4
    /// The number of objects that are processed together after the first pass.
    private static let chunkCount = 256

    private let contents: PolicyContent
    private let source: MigrationSource
    private let plan: PolicyPlan
    private let content: DestinationContent
    private let session: MigrationSession
    private let failures = PolicyFailures()
    private let destinationWriter: DestinationWriter
    private let memory: PrivateMemory
    private let store: any PersistentStore
    private let exceptions: RelationshipExceptions
    private let totalObjects: Int
    private let clock = ContinuousClock()
    private let start: ContinuousClock.Instant
    private var readCount = 0
    private var skipped = SkippedObjects()

    init(
        _ contents: PolicyContent, snapshot: any StoreSnapshot, store: any PersistentStore,
        destinationWriter: DestinationWriter,
        memory: PrivateMemory
    ) throws(StoreError) {
        self.contents = contents
        self.destinationWriter = destinationWriter
        self.memory = memory
        self.store = store
        start = clock.now
        let directories = store.spillDirectories
        source = MigrationSource(
            snapshot, failures: failures, options: contents.options.conversion, directories: directories)
        plan = try PolicyPlan(
            contents.mapping, from: snapshot.model, to: contents.model, policies: contents.options.policies)
        let associations = AssociationTable(
            mappingCount: plan.mappings.count, from: plan.source, to: plan.destination,
            memoryByteCount: contents.options.associationByteCount, directories: directories)
        exceptions = RelationshipExceptions(plan, directories: directories)
        for mapping in plan.mappings { try mapping.prepare(source) }
        var total = 0
        for mapping in plan.mappings where mapping.takesObjects {
            if let entity = mapping.source { total += try source.count(of: entity) }
        }
        totalObjects = total
        let lastKeys = try plan.lastKeys(snapshot)
        let names = Dictionary(uniqueKeysWithValues: lastKeys.map { (contents.model.entities[$0.key].name, $0.value) })
        let channel = BatchChannel(capacity: Self.channelCapacity)
        let writer = try WorkerThread("roost-writer") { () throws(StoreError) in
            do throws(StoreError) { return try destinationWriter.write(from: channel, to: store, memory: memory) } catch
            {
                channel.stop()
                throw error
            }
        }
        let load = try DestinationLoad(
            channel, begin: .begin(lastKeys: names, objectCount: total, linkCount: nil), writer: writer)
        content = try DestinationContent(
            store, load: load, lastKeys: lastKeys, failures: failures, directories: directories)
        session = MigrationSession(
            plan, source: source, content: content, associations: associations,
            cancellation: contents.options.conversion.cancellation)
    }

    func run() throws(StoreError) -> CopiedContent {
        do throws(StoreError) {
            try makeObjects()
            try translateIDs()
            try makeRelationships()
            try requireRecordedContent()
            try validate()
        } catch {
            content.output.abandon()
            throw error
        }
        var copied = CopiedContent(tally: content.written.tally)
        copied.skipped = skipped.ids
        copied.warnings = try EmptyRelationships(plan.declaration, from: plan.source, to: plan.destination)
            .warnings(store)
        if !skipped.isEmpty {
            copied.warnings += source.found.warnings(
                against: try source.snapshot.recordedTally(), skipped: skipped.ids)
        }
        copied.isFlushed = !content.output.hasCommitted
        var counts: [(read: Int, made: Int)] = []
        for mapping in plan.mappings {
            counts.append((mapping.readCount, try session.associations.destinationCount(in: mapping.number)))
        }
        let losses =
            try leftOutByPolicies()
            + plan.mappings.flatMap { mapping in
                mapping.source.map { MigrationReport.losses($0.name, lostIDs: mapping.lostIDs) } ?? []
            }
        contents.outcome.withLock { $0 = PolicyContent.Outcome(counts: counts, losses: losses) }
        return copied
    }

    /// Throws `corrupted` if the source does not match the tally of its last commit.
    ///
    /// First reads content that the passes did not read completely, such as entities with a source
    /// predicate. If damaged objects were skipped, differences become warnings instead.
    private func requireRecordedContent() throws(StoreError) {
        guard !contents.source.takesChanges, let recorded = try source.snapshot.recordedTally() else { return }
        try source.found.countRest(of: source.snapshot, options: contents.options.conversion, noting: &skipped)
        guard skipped.isEmpty else { return }
        try source.found.requireRecorded(recorded, store: contents.source)
    }

    /// Returns messages about the objects that policies dropped.
    ///
    /// Such a loss is intended, so it does not end the migration.
    private func leftOutByPolicies() throws(StoreError) -> [String] {
        var losses: [String] = []
        for mapping in plan.mappings where mapping.policy != nil && mapping.takesObjects {
            // An entity with several mappings gets no message, because one mapping may migrate what another
            // drops.
            let others = plan.mappings.filter { $0.source?.number == mapping.source?.number && $0.takesObjects }
            guard let entity = mapping.source, others.count == 1 else { continue }
            var madeCount = 0
            let made = try session.associations.sources(in: mapping.number)
            while let object = try made.next() { if object.entity == entity.number { madeCount += 1 } }
            guard madeCount < mapping.readCount else { continue }
            let count = MigrationLoss.Kind.objects.counted(mapping.readCount - madeCount)
            losses.append(
                "\(entity.name): The policy of mapping '\(mapping.declaration.name)' created no object from \(count)."
            )
        }
        return losses
    }

    // MARK: Policies

    /// Runs work for a mapping, then throws a recorded failure or cancellation, if any.
    ///
    /// Errors other than `StoreError` become `migrationFailed`.
    private func call(_ mapping: PolicyMapping, _ body: () throws -> Void) throws(StoreError) {
        session.current = mapping.number
        defer { session.current = nil }
        do { try body() } catch let error as StoreError { throw error } catch {
            throw StoreError(
                .migrationFailed,
                "The policy of entity mapping '\(mapping.declaration.name)' threw an error, which ended the migration; the source is unchanged.",
                underlying: error)
        }
        try failures.check()
        try session.checkCancellation()
    }

    private func callPolicies(_ body: (EntityMigrationPolicy, EntityMapping) throws -> Void) throws(StoreError) {
        for mapping in plan.mappings {
            guard let policy = mapping.policy else { continue }
            try call(mapping) { try body(policy, mapping.declaration) }
        }
    }

    // MARK: First pass

    private func makeObjects() throws(StoreError) {
        for mapping in plan.mappings {
            if let policy = mapping.policy { try call(mapping) { try policy.begin(mapping.declaration, in: session) } }
            if mapping.takesObjects { try makeObjects(mapping) }
            if let policy = mapping.policy {
                try call(mapping) { try policy.endInstanceCreation(for: mapping.declaration, in: session) }
            }
            try content.writeIfFull()
        }
        session.setInFirstPass = content.policies.relationships
        session.progress = 0.5
    }

    private func makeObjects(_ mapping: PolicyMapping) throws(StoreError) {
        guard let entity = mapping.source else { return }
        let cursor = try source.snapshot.fetch(
            FetchRequest(entity.name, where: mapping.declaration.sourcePredicate).with {
                $0.includesSubentities = false
            })
        let isCounted = mapping.declaration.sourcePredicate == nil && source.found.begins([entity.number])
        var spare: RecordBatch?
        while true {
            var records = spare ?? RecordBatch(model: source.model)
            spare = nil
            guard try cursor.next(into: &records, options: contents.options.conversion, noting: &skipped) else { break }
            let count = records.count
            if isCounted { source.found.add(records) }
            var batch = SourceBatch(source, records: records)
            records = RecordBatch(model: source.model)
            try makeObjects(mapping, batch: batch)
            // Unless a policy retains an object of the batch, the batch's memory is reused.
            if isKnownUniquelyReferenced(&batch) { spare = batch.takeRecords() }
            readCount += count
            mapping.readCount += count
            session.progress = totalObjects == 0 ? 0.5 : 0.5 * min(1, Double(readCount) / Double(totalObjects))
            report(entity.name.text)
        }
        if isCounted, skipped.isEmpty { source.note(count: mapping.readCount, of: entity) }
    }

    private func makeObjects(_ mapping: PolicyMapping, batch: SourceBatch) throws(StoreError) {
        for index in 0..<batch.records.count {
            let object = SourceObject(batch: batch, index: index)
            try call(mapping) {
                if let policy = mapping.policy {
                    try policy.createDestinationInstances(for: object, by: mapping.declaration, in: session)
                } else {
                    _ = try mapping.create(object, session: session)
                }
            }
            try content.writeIfFull()
        }
    }

    /// Reports progress, unless the writing thread still does so.
    private func report(_ current: String) {
        guard content.output.isOpen else { return }
        memory.sample()
        destinationWriter.report(
            .copying, current: current, objects: readCount, links: 0, totalObjects: totalObjects,
            seconds: (clock.now - start).inSeconds)
    }

    // MARK: IDs in attributes

    /// Replaces object IDs in attributes with the IDs of the new objects.
    ///
    /// An ID becomes null unless exactly one new object was created from its object.
    private func translateIDs() throws(StoreError) {
        guard plan.mappings.contains(where: { !$0.objectIDs.isEmpty }), try !everyKeyIsKept() else { return }
        for mapping in plan.mappings where !mapping.objectIDs.isEmpty {
            let objects = try session.associations.destinations(in: mapping.number)
            while true {
                try session.checkCancellation()
                var chunk: [AssociationTable.Object] = []
                while chunk.count < Self.chunkCount, let next = try objects.next() { chunk.append(next) }
                guard !chunk.isEmpty else { break }
                let sources = try prefetch(chunk, mapping: mapping)
                for place in chunk where place.entity == mapping.destination?.number {
                    let object = DestinationObject(content: content, entityNumber: place.entity, key: place.key)
                    for source in sources[place] ?? [] where source.entityNumber == mapping.source?.number {
                        try translateIDs(of: source, to: object, mapping: mapping)
                    }
                    try content.writeIfFull()
                }
            }
        }
    }

    private func translateIDs(
        of source: SourceObject, to object: DestinationObject, mapping: PolicyMapping
    ) throws(StoreError) {
        for (to, from) in mapping.objectIDs {
            guard let (entity, key) = source.batch.records.withRecord(at: source.index, { $0.reference(from) }),
                plan.assumedEntities.indices.contains(entity), let assumed = plan.assumedEntities[entity]
            else { continue }
            // A value other than `written` was set by a policy, and remains.
            let written = Value.objectID(ObjectID(plan.destination.entities[assumed].name, key: key))
            guard try content.value(to.name, of: object) == written else { continue }
            var found: [AssociationTable.Object] = []
            for number in plan.mappings.indices {
                try session.associations.appendDestinations(
                    of: .init(entity: entity, key: key), in: number, to: &found)
            }
            let successors = found.uniqued()
            if successors.count != 1 { mapping.lostLater[to.name, default: 0] += 1 }
            let value =
                successors.count == 1
                ? Value.objectID(ObjectID(plan.destination.entities[successors[0].entity].name, key: successors[0].key))
                : .null
            if value != written { try content.set(to, of: object, to: value) }
        }
    }

    /// Returns whether the first pass assumed the correct new ID for every source object.
    private func everyKeyIsKept() throws(StoreError) -> Bool {
        var taken: Set<Int> = []
        for mapping in plan.mappings {
            guard let source = mapping.source, let destination = mapping.destination, mapping.takesObjects else {
                guard session.associations.count(in: mapping.number) == 0 else { return false }
                continue
            }
            guard taken.insert(source.number).inserted, mapping.keepsKeys,
                session.associations.keepsKeys(in: mapping.number, for: destination.number),
                session.associations.count(in: mapping.number) == (try self.source.count(of: source))
            else { return false }
        }
        return true
    }

    // MARK: Second pass

    private func makeRelationships() throws(StoreError) {
        var jobs = LinkJob.all(plan)
        var builders: [RelationshipBuilder] = []
        // The counts still include finished jobs, which are removed from `jobs` below.
        let jobCounts = Dictionary(jobs.map { ($0.owner.number, 1) }, uniquingKeysWith: +)
        var done: Set<Int> = []
        var settled: Set<RuleNumber> = []
        for mapping in plan.mappings {
            let builder = try RelationshipBuilder(mapping, exceptions: exceptions, session: session)
            builders.append(builder)
            if !builder.isIdle { try makeRelationships(builder) }
            done.insert(mapping.number)
            // Links are created as soon as no later mapping can affect them.
            for job in jobs where job.mappings.isSubset(of: done) {
                let isAlone = jobCounts[job.owner.number] == 1
                try call(mapping) { try job.run(session, exceptions: exceptions, isAlone: isAlone) }
            }
            jobs.removeAll { $0.mappings.isSubset(of: done) }
            for builder in builders {
                for (index, rule) in builder.mapping.rules.enumerated()
                where rule.way == .field && done.isSuperset(of: rule.targets) {
                    guard settled.insert(RuleNumber(mapping: builder.mapping.number, rule: index)).inserted else {
                        continue
                    }
                    try call(builder.mapping) { try builder.settle(index) }
                }
            }
            if let policy = mapping.policy {
                try call(mapping) { try policy.endRelationshipCreation(for: mapping.declaration, in: session) }
            }
            try content.writeIfFull()
            session.progress = 0.5 + 0.4 * Double(done.count) / Double(plan.mappings.count)
        }
    }

    private struct RuleNumber: Hashable {
        var mapping: Int
        var rule: Int
    }

    private func makeRelationships(_ builder: RelationshipBuilder) throws(StoreError) {
        let mapping = builder.mapping
        content.relationshipBuilder = builder
        session.relationshipBuilder = builder
        defer {
            content.relationshipBuilder = nil
            session.relationshipBuilder = nil
        }
        let objects = try session.associations.destinations(in: mapping.number)
        var chunk: [AssociationTable.Object] = []
        while true {
            chunk.removeAll(keepingCapacity: true)
            while chunk.count < Self.chunkCount, let next = try objects.next() { chunk.append(next) }
            guard !chunk.isEmpty else { return }
            let sources = try builder.makesEach ? prefetch(chunk, mapping: mapping) : [:]
            for place in chunk {
                let object = DestinationObject(content: content, entityNumber: place.entity, key: place.key)
                try call(mapping) {
                    try builder.make(object, sources: sources[place]) {
                        if let policy = mapping.policy {
                            try policy.createRelationships(for: object, by: mapping.declaration, in: session)
                        } else {
                            try builder.makeStandardRelationships(session)
                        }
                    }
                }
                try content.writeIfFull()
            }
            report(mapping.declaration.name)
        }
    }

    /// Reads new objects into memory, and returns the source objects of each.
    private func prefetch(
        _ chunk: [AssociationTable.Object], mapping: PolicyMapping
    ) throws(StoreError) -> [AssociationTable.Object: [SourceObject]] {
        try content.open()
        try content.write()
        try content.prefetch(chunk)
        var places: [(destination: AssociationTable.Object, source: AssociationTable.Object)] = []
        var found: [AssociationTable.Object] = []
        for object in chunk {
            found.removeAll(keepingCapacity: true)
            try session.associations.appendSources(of: object, in: mapping.number, to: &found)
            places += found.uniqued().map { (object, $0) }
        }
        let ids = places.map { ObjectID(source.model.entities[$0.source.entity].name, key: $0.source.key) }
        var objects: [ObjectID: SourceObject] = [:]
        for object in try source.objects(with: ids.uniqued()) { objects[object.id] = object }
        var sources: [AssociationTable.Object: [SourceObject]] = [:]
        for (place, id) in zip(places, ids) {
            if let object = objects[id] { sources[place.destination, default: []].append(object) }
        }
        return sources
    }

    // MARK: Third pass

    private func validate() throws(StoreError) {
        try callPolicies { policy, mapping in try policy.performCustomValidation(for: mapping, in: session) }
        try content.finish()
        try MigrationValidation(store, suspects: content.written.suspects, session: session).run()
        session.progress = 1
        try callPolicies { policy, mapping in try policy.end(mapping, in: session) }
    }
}
