internal import RoostCore

/// What a mapping makes of the content of a store, in one pass.
///
/// The objects of a hierarchy of the new model are read in key order and changed one by one; links and references keep their keys. Only
/// where a predicate, or an entity that is dropped, lets some objects of a hierarchy go whose keys links may name, the keys of the
/// others are collected before: two bits for each object, where keys lie side by side.
final class MappedContent: ContentSource {
    /// What was done, beside what the destination holds.
    struct Outcome: Sendable {
        /// By entity mapping: how many objects were read and made; nil where it makes none.
        var counts: [(read: Int, made: Int)?] = []
        /// What the last commit of the source recorded.
        var recorded: StoreTally?
        /// What had no place in the destination, counted.
        var losses: [String] = []
    }

    /// The damaged objects after which a source counts as lost.
    static let skippedLimit = 100_000

    private let store: any PersistentStore
    private let plan: MappingPlan
    private let options: ConversionOptions
    private let requiresRecordedContent: Bool
    private let result = Mutex(Outcome())

    /// What a plan makes of a store.
    ///
    /// - Parameters:
    ///   - store: The source.
    ///   - plan: A plan without obstacles.
    ///   - options: How the source is read.
    ///   - requiresRecordedContent: Whether reading throws code `corrupted` where the source does not hold what its last commit recorded;
    ///     then what becomes nothing is read too.
    init(
        _ store: any PersistentStore, _ plan: MappingPlan, options: ConversionOptions,
        requiresRecordedContent: Bool = false
    ) {
        self.requiresRecordedContent = requiresRecordedContent
        self.store = store
        self.plan = plan
        self.options = options
    }

    var model: ManagedObjectModel { plan.destination }

    /// What was done, after ``read(into:)``.
    var outcome: Outcome { result.withLock { $0 } }

    func identity() throws(StoreError) -> (storeUUID: StoreUUID, userMetadata: [String: MetadataValue]) {
        try StoreContent(store, options: options).identity()
    }

    /// Streams everything, and makes sure of the numbers of objects in relationships that the mapping may have changed.
    func fill(
        _ store: any PersistentStore, by filler: StoreFiller, _ memory: PrivateMemory
    ) throws(StoreError) -> CopiedContent {
        var copied = try filler.copy(self, to: store, memory)
        copied.warnings += try EmptyRelationships(plan.mapping, from: plan.source, to: plan.destination)
            .warnings(store)
        guard !plan.countedRelationships.isEmpty else { return copied }
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        for number in plan.countedRelationships {
            let relationship = plan.destination.relationships[number]
            // What no mapping says anything of may be empty.
            let unsaid = plan.entitiesWithoutStatement(of: relationship)
            try snapshot.requireCounts(of: relationship) { $0.count == 0 && unsaid.contains($0.entity) }
        }
        return copied
    }

    func notices() throws(StoreError) -> [String] { try StoreContent(store, options: options).notices() }

    func read(into channel: BatchChannel) throws(StoreError) -> CopiedContent? {
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        var reading = MappedReading(snapshot, plan, options)
        if requiresRecordedContent { try reading.countRest() }
        guard let copied = try reading.run(into: channel) else { return nil }
        if requiresRecordedContent { try reading.requireRecordedContent(of: store.url.path) }
        let outcome = Outcome(counts: reading.counts, recorded: reading.recorded, losses: reading.losses)
        result.withLock { $0 = outcome }
        return copied
    }
}

/// One pass over a source.
private struct MappedReading {
    private let snapshot: any StoreSnapshot
    private let plan: MappingPlan
    private let options: ConversionOptions
    private(set) var recorded: StoreTally?
    private(set) var counts: [(read: Int, made: Int)?]
    private(set) var losses: [String] = []
    private var transforms: [RecordTransform] = []
    private var keySets: [KeySet] = []
    private var copied: CopiedContent
    /// What was read, for comparison with what the source recorded.
    private var found: StoreTally
    private var foundRoots: Set<Int> = []
    private var foundLinks: Set<Int> = []

    init(_ snapshot: any StoreSnapshot, _ plan: MappingPlan, _ options: ConversionOptions) {
        self.snapshot = snapshot
        self.plan = plan
        self.options = options
        copied = CopiedContent(tally: StoreTally(model: plan.destination))
        found = StoreTally(model: plan.source)
        counts = Array(repeating: nil, count: plan.mapping.entityMappings.count)
    }

    /// Sends everything; nil when the writer stopped.
    mutating func run(into channel: BatchChannel) throws(StoreError) -> CopiedContent? {
        recorded = try snapshot.recordedTally()
        // A source that is read list by list may have none without reading everything.
        let graph = plan.asksForObjects ? snapshot.objectGraph() : nil
        keySets = try collectKeys(over: graph)
        for maker in plan.makers { transforms.append(try RecordTransform(maker, plan, over: graph, keySets)) }
        guard channel.send(try beginning()) else { return nil }
        for hierarchy in plan.hierarchies {
            guard try sendRecords(of: hierarchy, into: channel) else { return nil }
        }
        for link in plan.links {
            guard try sendLinks(link, into: channel) else { return nil }
        }
        for (maker, transform) in zip(plan.makers, transforms) {
            counts[maker.mapping] = (transform.readCount, transform.madeCount)
            losses += MigrationReport.losses(maker.source.name, transform.lostIDs)
        }
        copied.warnings = warnings()
        copied.skippedThere = copied.skipped.flatMap { id in
            plan.makers.filter { $0.source.name == id.entity }.map { ObjectID($0.destination.name, id.key) }
        }
        return channel.send(.end) ? copied : nil
    }

    private func beginning() throws(StoreError) -> BatchChannel.Message {
        var lastKeys: [EntityName: Int64] = [:]
        for hierarchy in plan.hierarchies {
            guard let source = hierarchy.source else { continue }
            // Of all the keys of the hierarchy that it comes from: a key that a deleted object had is not used again.
            lastKeys[plan.destination.entities[hierarchy.destination].name] =
                try snapshot.lastKey(of: plan.source.entities[source].name)
        }
        let objects = recorded.map { recorded in
            plan.makers.reduce(0) { $0 + recorded.entities[$1.source.number].count }
        }
        return .begin(
            lastKeys: lastKeys, objectCount: plan.makers.allSatisfy { $0.filter == nil } ? objects : nil, linkCount: nil
        )
    }

    // MARK: Records

    private mutating func sendRecords(
        of hierarchy: MappingPlan.Hierarchy, into channel: BatchChannel
    ) throws(StoreError) -> Bool {
        guard let source = hierarchy.source else { return true }
        var makers = [Int?](repeating: nil, count: plan.source.entities.count)
        for (entity, maker) in hierarchy.makers { makers[entity] = maker }
        // A hierarchy that becomes several is read once for each of them, and counted once.
        let entity = plan.source.entities[source]
        let isCounted = entity.number == entity.root && foundRoots.insert(entity.root).inserted
        return try forEachBatch(of: entity) { (this, records) throws(StoreError) in
            if isCounted { this.found.add(records) }
            var batch = channel.spareRecords(this.plan.destination)
            let transforms = this.transforms
            try records.forEachRecord { (record) throws(StoreError) in
                guard let maker = makers[record.entityNumber] else { return }
                try transforms[maker].append(record, to: &batch)
            }
            guard !batch.isEmpty else {
                channel.recycle(batch)
                return true
            }
            this.copied.tally.add(batch)
            return channel.send(.records(consume batch))
        }
    }

    /// Reads the objects of an entity in batches, until `body` returns false.
    private mutating func forEachBatch(
        of entity: ManagedObjectModel.Entity, _ body: (inout Self, RecordBatch) throws(StoreError) -> Bool
    ) throws(StoreError) -> Bool {
        let cursor = try snapshot.records(of: entity.name, after: nil)
        var batch = RecordBatch(model: snapshot.model)
        while true {
            try options.cancellation?.check()
            do throws(StoreError) {
                guard try cursor.next(into: &batch) else { return true }
            } catch  where options.skipsDamaged && error.code == .corrupted {
                try skip(error)
                continue
            }
            guard try body(&self, batch) else { return false }
        }
    }

    /// Notes a damaged object; one that is met again is noted once.
    private mutating func skip(_ error: StoreError) throws(StoreError) {
        // Only an error that names an object promises that the cursor goes on behind it.
        guard let damaged = error.damagedObject else { throw error }
        guard !copied.skipped.contains(damaged) else { return }
        guard copied.skipped.count < MappedContent.skippedLimit else {
            throw StoreError(
                .corrupted,
                "More than \(MappedContent.skippedLimit) records of the source are damaged; restore a backup.",
                underlying: error
            )
        }
        copied.skipped.append(damaged)
    }

    // MARK: Keys

    /// The keys of the objects that become others, for each set of makers that the plan names.
    private mutating func collectKeys(over graph: (any ObjectGraph)?) throws(StoreError) -> [KeySet] {
        var sets: [KeySet] = []
        for numbers in plan.keySets {
            let makers = numbers.map { plan.makers[$0] }
            var matchers = [RecordMatcher?](repeating: nil, count: plan.source.entities.count)
            var isTaken = [Bool](repeating: false, count: plan.source.entities.count)
            for maker in makers {
                isTaken[maker.source.number] = true
                matchers[maker.source.number] = try RecordTransform.matcher(maker, plan, over: graph)
            }
            var keys = KeySet()
            for entity in roots(of: makers) {
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

    /// The one root of the hierarchy that makers take objects of.
    private func roots(of makers: [MappingPlan.Maker]) -> [ManagedObjectModel.Entity] {
        Set(makers.map(\.source.root)).sorted().map { plan.source.entities[$0] }
    }

    // MARK: Links

    private mutating func sendLinks(_ link: LinkPlan, into channel: BatchChannel) throws(StoreError) -> Bool {
        let mapper = LinkMapper(link, plan.source, keySets)
        switch link.relation.storage {
        case .links(let number):
            let owner = plan.source.relationships[number]
            let cursor = try snapshot.links(of: owner.name, after: nil)
            var links = LinkBatch(relationship: number)
            let isCounted = foundLinks.insert(number).inserted
            while try cursor.next(into: &links) {
                try options.cancellation?.check()
                if isCounted { found.add(links) }
                var batch = channel.spareLinks(link.relationship.number)
                for link in links.links { mapper.append(link, to: &batch) }
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
            return try forEachBatch(of: plan.source.entities[relationship.source]) { (this, records) in
                var batch = channel.spareLinks(link.relationship.number)
                records.forEachRecord { record in
                    guard let field = fields[record.entityNumber],
                        let (_, key) = record.reference(field.reference)
                    else { return }
                    let place = field.order.map { record.integer($0) } ?? 0
                    mapper.append(Link(record.key, key, inverseOrder: place), to: &batch)
                }
                return this.send(batch, into: channel)
            }
        }
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

    /// Counts what becomes nothing, or is not read as a whole.
    mutating func countRest() throws(StoreError) {
        let whole = Set(plan.hierarchies.compactMap(\.source).filter { plan.source.entities[$0].root == $0 })
        for root in plan.source.roots where !whole.contains(root) {
            foundRoots.insert(root)
            _ = try forEachBatch(of: plan.source.entities[root]) { (this, records) in
                this.found.add(records)
                return true
            }
        }
        let read = Set(
            plan.links.compactMap { link -> Int? in
                if case .links(let number) = link.relation.storage { return number }
                return nil
            })
        for relationship in plan.source.linkRelationships where !read.contains(relationship.number) {
            foundLinks.insert(relationship.number)
            let cursor = try snapshot.links(of: relationship.name, after: nil)
            var links = LinkBatch(relationship: relationship.number)
            while try cursor.next(into: &links) {
                try options.cancellation?.check()
                found.add(links)
            }
        }
    }

    // MARK: After

    /// Throws code `corrupted` where the source, of which all was counted, does not hold what its last commit recorded.
    func requireRecordedContent(of path: String) throws(StoreError) {
        guard let recorded else { return }
        guard found.entities == recorded.entities, found.relationships == recorded.relationships else {
            throw .notRecordedContent(path)
        }
    }

    /// What the source's own record of its content says against what was read.
    private func warnings() -> [String] {
        guard let recorded, copied.skipped.isEmpty else { return [] }
        let changed = plan.source.entities.filter {
            foundRoots.contains($0.root) && found.entities[$0.number] != recorded.entities[$0.number]
        }
        let changedLinks = plan.source.relationships.filter {
            foundLinks.contains($0.number) && found.relationships[$0.number] != recorded.relationships[$0.number]
        }
        guard !changed.isEmpty || !changedLinks.isEmpty else { return [] }
        let names = (changed.map { "entity '\($0.name)'" } + changedLinks.map { "relationship '\($0.name)'" })
            .joined(separator: ", ")
        return [
            "The source's content is not what its last commit recorded (\(names)): another program changed it, or it was damaged. It was migrated as it is; 'roost check' says more."
        ]
    }
}

/// Makes links of the new model out of pairs of the source.
private struct LinkMapper {
    private let plan: LinkPlan
    private let sources: KeySet?
    private let targets: KeySet?
    /// Whether the source keeps a place for the targets of a source, and for the sources of a target.
    private let hasOrder: Bool
    private let hasInverseOrder: Bool
    /// Whether the source keeps each pair once that counts from both ends here.
    private let isDoubled: Bool

    init(_ plan: LinkPlan, _ source: ManagedObjectModel, _ keySets: [KeySet]) {
        self.plan = plan
        func set(_ taken: MappingPlan.Taken) -> KeySet? {
            guard case .keys(let number) = taken else { return nil }
            return keySets[number]
        }
        sources = set(plan.sources)
        targets = set(plan.targets)
        let origin = plan.relation.relationship(source)
        let (order, inverseOrder) = (origin.isOrdered, origin.inverseIsOrdered)
        (hasOrder, hasInverseOrder) = plan.relation.isFlipped ? (inverseOrder, order) : (order, inverseOrder)
        isDoubled = origin.isReflexive && !plan.relationship.isReflexive
    }

    /// Appends what becomes of a pair of the source, as the source keeps it.
    func append(_ pair: Link, to batch: inout LinkBatch) {
        let pair = plan.relation.isFlipped ? pair.flipped : pair
        append(oriented: pair, to: &batch)
        if isDoubled, pair.source != pair.target { append(oriented: pair.flipped, to: &batch) }
    }

    private func append(oriented pair: Link, to batch: inout LinkBatch) {
        if let sources, !sources.contains(pair.source) { return }
        if let targets, !targets.contains(pair.target) { return }
        // Who had no place in order stands where its key puts it.
        let link = Link(
            pair.source, pair.target, order: hasOrder ? pair.order : pair.target,
            inverseOrder: hasInverseOrder ? pair.inverseOrder : pair.source)
        batch.links.append(plan.relationship.normalised(link))
    }
}
