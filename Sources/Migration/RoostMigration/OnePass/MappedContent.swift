internal import RoostCore
internal import RoostQuery

/// The content that a mapping creates from a store, in one pass.
///
/// The objects of a hierarchy of the new model are read in key order and transformed one by one.
/// Links and references keep the keys of their objects. If a predicate or a dropped entity excludes
/// objects that others can refer to, the keys of the migrated objects are collected first.
final class MappedContent: ContentSource {
    /// The results of the pass, except for the destination's content.
    struct Outcome: Sendable {
        /// The numbers of objects that each entity mapping read and created, or nil for a mapping
        /// that cannot create objects.
        var counts: [(read: Int, made: Int)?] = []
        /// The tally that the last commit of the source recorded, or nil.
        var recorded: StoreTally?
        /// Messages, with counts, about content that cannot be migrated to the destination.
        var losses: [String] = []
    }

    private let store: any PersistentStore
    private let plan: MappingPlan
    private let options: ConversionOptions
    private let pairs: [Int: OneSidedPairs]
    private let result = Mutex(Outcome())
    /// The directories for temporary files: those of the source, until ``fill(_:by:memory:)``
    /// starts.
    private let spillDirectories: Mutex<[String]>

    /// Creates the content; the plan must have no obstacles.
    init(
        _ store: any PersistentStore, plan: MappingPlan, pairs: [Int: OneSidedPairs], options: ConversionOptions
    ) {
        self.store = store
        self.plan = plan
        self.pairs = pairs
        self.options = options
        spillDirectories = Mutex(store.spillDirectories)
    }

    var model: ManagedObjectModel { plan.destination }

    /// The results, after ``read(into:)``.
    var outcome: Outcome { result.withLock { $0 } }

    func identity() throws(StoreError) -> (storeUUID: StoreUUID, userMetadata: [String: MetadataValue]) {
        try StoreContent(store, options: options).identity()
    }

    /// Copies the content, and checks the counts of destinations that the mapping may have changed.
    func fill(
        _ store: any PersistentStore, by destinationWriter: DestinationWriter, memory: PrivateMemory
    ) throws(StoreError) -> CopiedContent {
        let directories = store.spillDirectories
        spillDirectories.withLock { $0 = directories }
        let derivedValues = try DerivedValues(in: store, by: destinationWriter)
        var copied = try destinationWriter.copy(self, to: store, memory: memory)
        try derivedValues.write(updating: &copied)
        memory.sample()
        copied.warnings += try EmptyRelationships(plan.mapping, from: plan.source, to: plan.destination)
            .warnings(store)
        guard !plan.countedRelationships.isEmpty else { return copied }
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        for number in plan.countedRelationships {
            let relationship = plan.destination.relationships[number]
            // The relationship may be empty in objects of entities for which no mapping sets it.
            let unsaid = plan.entitiesWithoutStatement(of: relationship)
            try snapshot.requireCounts(of: relationship) { $0.count == 0 && unsaid.contains($0.entity) }
        }
        return copied
    }

    func notices() throws(StoreError) -> [String] { try StoreContent(store, options: options).notices() }

    func read(into channel: BatchChannel) throws(StoreError) -> CopiedContent? {
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        var reading = MappedReading(
            snapshot, store: store, plan: plan, pairs: pairs, options: options,
            spillDirectories: spillDirectories.withLock { $0 })
        guard let copied = try reading.run(into: channel) else { return nil }
        let outcome = Outcome(counts: reading.counts, recorded: reading.recorded, losses: reading.losses)
        result.withLock { $0 = outcome }
        return copied
    }
}

private struct MappedReading {
    private let snapshot: any StoreSnapshot
    private let store: any PersistentStore
    private let plan: MappingPlan
    private let pairs: [Int: OneSidedPairs]
    private let options: ConversionOptions
    private let spillDirectories: [String]
    private(set) var recorded: StoreTally?
    private(set) var counts: [(read: Int, made: Int)?]
    private(set) var losses: [String] = []
    private var transforms: [RecordTransform] = []
    private var keySets: [KeySet] = []
    private var copied: CopiedContent
    private var skipped = SkippedObjects()
    private var found: FoundContent

    init(
        _ snapshot: any StoreSnapshot, store: any PersistentStore, plan: MappingPlan,
        pairs: [Int: OneSidedPairs], options: ConversionOptions, spillDirectories: [String]
    ) {
        self.snapshot = snapshot
        self.store = store
        self.plan = plan
        self.pairs = pairs
        self.options = options
        self.spillDirectories = spillDirectories
        copied = CopiedContent(tally: StoreTally(model: plan.destination))
        found = FoundContent(plan.source)
        counts = Array(repeating: nil, count: plan.mapping.entityMappings.count)
    }

    /// Sends all content, or returns nil if the channel's receiver stopped the exchange.
    mutating func run(into channel: BatchChannel) throws(StoreError) -> CopiedContent? {
        recorded = try snapshot.recordedTally()
        // For some sources, creating a graph requires reading everything.
        let graph = plan.asksForObjects ? snapshot.objectGraph() : nil
        keySets = try collectKeys(over: graph)
        let backReferences = try collectBackReferences(over: graph)
        for entityPlan in plan.entityPlans {
            transforms.append(
                try RecordTransform(
                    entityPlan, in: plan, over: graph, keySets: keySets, backReferences: backReferences, pairs: pairs))
        }
        guard channel.send(try beginning()) else { return nil }
        for hierarchy in plan.hierarchies {
            guard try sendRecords(of: hierarchy, into: channel) else { return nil }
        }
        for link in plan.links {
            guard try sendLinks(link, into: channel) else { return nil }
        }
        for (entityPlan, transform) in zip(plan.entityPlans, transforms) {
            counts[entityPlan.mapping] = (transform.readCount, transform.madeCount)
            losses += MigrationReport.losses(entityPlan.source.name, lostIDs: transform.lostIDs)
        }
        // Dropped content is counted too, because damage may be the reason why it is dropped.
        if recorded != nil, !store.takesChanges {
            try found.countRest(of: snapshot, options: options, noting: &skipped)
        }
        copied.skipped = skipped.ids
        if skipped.isEmpty {
            try found.requireRecorded(recorded, store: store)
        } else {
            copied.warnings = found.warnings(against: recorded, skipped: skipped.ids)
        }
        copied.skippedThere = copied.skipped.flatMap { id in
            plan.entityPlans.filter { $0.source.name == id.entity }.map { ObjectID($0.destination.name, key: id.key) }
        }
        return channel.send(.end) ? copied : nil
    }

    private func beginning() throws(StoreError) -> BatchChannel.Message {
        var lastKeys: [EntityName: Int64] = [:]
        for hierarchy in plan.hierarchies {
            guard let source = hierarchy.source else { continue }
            // The last key of the whole source hierarchy, so that keys of deleted objects are not
            // reused.
            lastKeys[plan.destination.entities[hierarchy.destination].name] =
                try snapshot.lastKey(of: plan.source.entities[source].name)
        }
        let objects = recorded.map { recorded in
            plan.entityPlans.reduce(0) { $0 + recorded.entities[$1.source.number].count }
        }
        return .begin(
            lastKeys: lastKeys, objectCount: plan.entityPlans.allSatisfy { $0.filter == nil } ? objects : nil,
            linkCount: nil
        )
    }

    // MARK: Records

    private mutating func sendRecords(
        of hierarchy: MappingPlan.Hierarchy, into channel: BatchChannel
    ) throws(StoreError) -> Bool {
        guard let source = hierarchy.source else { return true }
        var entityPlans = [Int?](repeating: nil, count: plan.source.entities.count)
        for (entity, entityPlan) in hierarchy.entityPlans { entityPlans[entity] = entityPlan }
        // A source hierarchy that is split is read once for each new hierarchy, but counted only once.
        let entity = plan.source.entities[source]
        let isCounted = entity.number == entity.root && found.begins(entity.selfAndSubentities)
        return try forEachBatch(of: entity) { (this, records) throws(StoreError) in
            if isCounted { this.found.add(records) }
            var batch = channel.spareRecords(this.plan.destination)
            let transforms = this.transforms
            try records.forEachRecord { (record) throws(StoreError) in
                guard let entityPlan = entityPlans[record.entityNumber] else { return }
                try transforms[entityPlan].append(record, to: &batch)
            }
            guard !batch.isEmpty else {
                channel.recycle(batch)
                return true
            }
            this.copied.tally.add(batch)
            return channel.send(.records(consume batch))
        }
    }

    /// Reads the objects of an entity and its subentities until `body` returns false.
    private mutating func forEachBatch(
        of entity: ManagedObjectModel.Entity, _ body: (inout Self, RecordBatch) throws(StoreError) -> Bool
    ) throws(StoreError) -> Bool {
        let cursor = try snapshot.records(of: entity.name, after: nil)
        var batch = RecordBatch(model: snapshot.model)
        while try cursor.next(into: &batch, options: options, noting: &skipped) {
            guard try body(&self, batch) else { return false }
        }
        return true
    }

    // MARK: Keys

    /// Returns the keys of the migrated objects, with one set for each of the plan's key sets.
    private mutating func collectKeys(over graph: (any ObjectGraph)?) throws(StoreError) -> [KeySet] {
        var sets: [KeySet] = []
        for numbers in plan.keySets {
            let entityPlans = numbers.map { plan.entityPlans[$0] }
            var matchers = [RecordMatcher?](repeating: nil, count: plan.source.entities.count)
            var isTaken = [Bool](repeating: false, count: plan.source.entities.count)
            for entityPlan in entityPlans {
                isTaken[entityPlan.source.number] = true
                matchers[entityPlan.source.number] = try RecordTransform.matcher(entityPlan, plan: plan, over: graph)
            }
            var keys = KeySet()
            for entity in roots(of: entityPlans) {
                _ = try forEachBatch(of: entity) { (_, records) throws(StoreError) in
                    try records.forEachRecord { (record) throws(StoreError) in
                        guard isTaken[record.entityNumber],
                            try matchers[record.entityNumber]?.matches(record) ?? true
                        else { return }
                        keys.append(record.key)
                    }
                    return true
                }
            }
            sets.append(keys)
        }
        return sets
    }

    private mutating func collectBackReferences(
        over graph: (any ObjectGraph)?
    ) throws(StoreError) -> BackReferences? {
        guard !plan.backPairs.isEmpty else { return nil }
        return try BackReferences(plan, over: graph, directories: spillDirectories) {
            (entity, body) throws(StoreError) in
            _ = try forEachBatch(of: entity) { (_, records) throws(StoreError) in
                try body(records)
                return true
            }
        }
    }

    private func roots(of entityPlans: [MappingPlan.EntityPlan]) -> [ManagedObjectModel.Entity] {
        Set(entityPlans.map(\.source.root)).sorted().map { plan.source.entities[$0] }
    }

    // MARK: Links

    private mutating func sendLinks(_ link: LinkPlan, into channel: BatchChannel) throws(StoreError) -> Bool {
        let mapper = LinkMapper(link, source: plan.source, keySets: keySets)
        switch link.relation.storage {
        case .links(let number):
            let owner = plan.source.relationships[number]
            let cursor = try snapshot.links(of: owner.name, after: nil)
            var links = LinkBatch(relationship: number)
            var leadingBack = LinksBySource(snapshot, relationship: owner)
            let isCounted = found.begins(linksOf: number)
            while try cursor.next(into: &links) {
                try options.cancellation?.check()
                if isCounted { found.add(links) }
                var batch = channel.spareLinks(link.relationship.number)
                for link in links.links {
                    let back = mapper.needsBack(of: link) ? try leadingBack.link(backOf: link) : nil
                    mapper.append(link, back: back, to: &batch)
                }
                guard send(batch, into: channel) else { return false }
            }
            return true
        case .field(let number):
            let relationship = plan.source.relationships[number]
            let fields = plan.source.entities.map { entity in
                entity.layout.field(relationship.name.name).map {
                    (reference: $0, order: entity.layout.field(RecordLayout.orderFieldName(of: $0.name)))
                }
            }
            func stored(_ record: RecordReader) -> Link? {
                guard let field = fields[record.entityNumber], let (_, key) = record.reference(field.reference) else {
                    return nil
                }
                return Link(record.key, key, inverseOrder: field.order.map { record.integer($0) } ?? 0)
            }
            guard try sendPairsOfOtherEnd(relationship, mapper: mapper, link: link, into: channel) else { return false }
            return try forEachBatch(of: plan.source.entities[relationship.source]) {
                (this, records) throws(StoreError) in
                var batch = channel.spareLinks(link.relationship.number)
                var unsure: [Link] = []
                records.forEachRecord { record in
                    guard let pair = stored(record) else { return }
                    if mapper.needsBack(of: pair) { unsure.append(pair) } else { mapper.append(pair, to: &batch) }
                }
                let backs = try this.pairs(of: unsure.map(\.target), of: relationship, stored)
                for pair in unsure {
                    let back = backs[pair.target].flatMap { $0.target == pair.source ? $0 : nil }
                    mapper.append(pair, back: back, to: &batch)
                }
                return this.send(batch, into: channel)
            }
        }
    }

    /// Sends the links of pairs that only the inverse of a one-to-one relationship stores.
    private mutating func sendPairsOfOtherEnd(
        _ relationship: ManagedObjectModel.Relationship, mapper: LinkMapper, link: LinkPlan,
        into channel: BatchChannel
    ) throws(StoreError) -> Bool {
        guard let found = pairs[relationship.number] else { return true }
        var batch = channel.spareLinks(link.relationship.number)
        var shouldContinue = true
        try found.forEach { (pair) in
            guard shouldContinue else { return }
            mapper.append(pair, to: &batch)
            guard batch.links.count >= 4096 else { return }
            shouldContinue = send(batch, into: channel)
            batch = channel.spareLinks(link.relationship.number)
        }
        return shouldContinue && send(batch, into: channel)
    }

    /// Returns the pairs that a to-one relationship stores in the objects with these keys, by key.
    private mutating func pairs(
        of keys: [Int64], of relationship: ManagedObjectModel.Relationship, _ stored: (RecordReader) -> Link?
    ) throws(StoreError) -> [Int64: Link] {
        guard !keys.isEmpty else { return [:] }
        let entity = plan.source.entities[relationship.source].name
        let cursor = try snapshot.records(with: Set(keys).sorted().map { ObjectID(entity, key: $0) })
        var batch = RecordBatch(model: snapshot.model)
        var pairs: [Int64: Link] = [:]
        while try cursor.next(into: &batch, options: options, noting: &skipped) {
            batch.forEachRecord { record in
                if let pair = stored(record) { pairs[record.key] = pair }
            }
        }
        return pairs
    }

    private mutating func send(_ batch: consuming LinkBatch, into channel: BatchChannel) -> Bool {
        let batch = consume batch
        guard !batch.isEmpty else {
            channel.recycle(batch)
            return true
        }
        copied.tally.add(batch)
        return channel.send(.links(batch))
    }
}

/// A mapper of source pairs to links of the new model.
private struct LinkMapper {
    private let plan: LinkPlan
    private let sources: KeySet?
    private let targets: KeySet?
    /// Whether the source store has the position of a pair's target among the targets.
    private let hasOrder: Bool
    /// Whether the source store has the position of a pair's source object among the sources.
    private let hasInverseOrder: Bool
    /// Whether a pair of the source becomes two links in the destination, one from each end.
    private let isDoubled: Bool
    /// Whether a pair and its reverse, if the source has it, are one pair in the destination.
    private let isMerged: Bool
    private let isOrdered: Bool

    init(_ plan: LinkPlan, source: ManagedObjectModel, keySets: [KeySet]) {
        self.plan = plan
        func set(_ taken: MappingPlan.KeySelection) -> KeySet? {
            guard case .keys(let number) = taken else { return nil }
            return keySets[number]
        }
        sources = set(plan.sources)
        targets = set(plan.targets)
        let origin = plan.relation.relationship(source)
        let (order, inverseOrder) = (origin.isOrdered, origin.inverseIsOrdered)
        (hasOrder, hasInverseOrder) = plan.relation.isFlipped ? (inverseOrder, order) : (order, inverseOrder)
        // In a to-one relationship that is its own inverse, both objects store the pair.
        var isKeptOnce = origin.isReflexive
        if case .field = plan.relation.storage { isKeptOnce = false }
        isDoubled = isKeptOnce && !plan.relationship.isReflexive
        isMerged = !isKeptOnce && plan.relationship.isReflexive
        isOrdered = plan.relationship.isOrdered && (hasOrder || hasInverseOrder)
    }

    /// Returns whether the links for a pair depend on the existence of its reverse.
    func needsBack(of pair: Link) -> Bool {
        guard isMerged, pair.source != pair.target else { return false }
        return isOrdered || (pair.source > pair.target) != plan.relation.isFlipped
    }

    /// Appends the links for a pair of the source, if both its objects are migrated.
    ///
    /// `back` is the reverse of the pair, if it exists and ``needsBack(of:)`` is true.
    func append(_ pair: Link, back: Link? = nil, to batch: inout LinkBatch) {
        let pair = oriented(pair)
        let back = back.map(oriented).flatMap { takes($0) ? $0 : nil }
        // If a pair and its reverse exist, the pair with the lower source key represents both.
        if back != nil, pair.source > pair.target { return }
        append(oriented: pair, back: back, to: &batch)
        if isDoubled, pair.source != pair.target { append(oriented: pair.flipped, back: nil, to: &batch) }
    }

    private func oriented(_ pair: Link) -> Link { plan.relation.isFlipped ? pair.flipped : pair }

    private func takes(_ pair: Link) -> Bool {
        (sources?.contains(pair.source) ?? true) && (targets?.contains(pair.target) ?? true)
    }

    private func append(oriented pair: Link, back: Link?, to batch: inout LinkBatch) {
        guard takes(pair) else { return }
        // An object without a position is ordered by its key.
        let order = hasOrder ? pair.order : hasInverseOrder ? back?.inverseOrder : nil
        let inverseOrder = hasInverseOrder ? pair.inverseOrder : hasOrder ? back?.order : nil
        let link = Link(
            pair.source, pair.target, order: order ?? pair.target, inverseOrder: inverseOrder ?? pair.source)
        batch.links.append(plan.relationship.normalized(link))
    }
}

/// A cache of a relationship's links by source object, for recently requested objects.
private struct LinksBySource {
    /// The maximum number of cached links, in addition to those of the latest object.
    private static let keptCount = 1 << 16

    private let snapshot: any StoreSnapshot
    private let relationship: ManagedObjectModel.Relationship
    private let entity: EntityName
    private var known: [Int64: [Int64: Link]] = [:]
    private var count = 0

    init(_ snapshot: any StoreSnapshot, relationship: ManagedObjectModel.Relationship) {
        self.snapshot = snapshot
        self.relationship = relationship
        entity = snapshot.model.entities[relationship.source].name
    }

    mutating func link(backOf link: Link) throws(StoreError) -> Link? {
        if let links = known[link.target] { return links[link.source] }
        var links: [Int64: Link] = [:]
        var batch = LinkBatch(relationship: relationship.number)
        let cursor = try snapshot.links(of: relationship.name, from: ObjectID(entity, key: link.target))
        while try cursor.next(into: &batch) {
            for link in batch.links { links[link.target] = link }
        }
        if count > Self.keptCount {
            known.removeAll(keepingCapacity: true)
            count = 0
        }
        known[link.target] = links
        // Each object adds one, because an object without links also takes memory.
        count += links.count + 1
        return links[link.source]
    }
}
