internal import RoostCore

/// A job that creates the links of one destination relationship from one source relationship.
struct LinkJob {
    /// Two entity mappings whose objects are linked by rules of one or both mappings.
    struct Pair {
        let source: PolicyMapping
        let target: PolicyMapping
        var sourceRule: Int?
        var targetRule: Int?
    }

    /// The destination relationship that owns the links.
    let owner: ManagedObjectModel.Relationship
    /// The relationship that owns the links in the source.
    let origin: ManagedObjectModel.Relationship
    /// Whether the source stores the links in the opposite direction.
    let isFlipped: Bool
    var pairs: [Pair]

    static func all(_ plan: PolicyPlan) -> [LinkJob] {
        var jobs: [LinkJob] = []
        for mapping in plan.mappings {
            for (index, rule) in mapping.rules.enumerated() where rule.way == .links {
                guard case .related(let related, let targets) = rule.origin,
                    case .links(let owner, let isFlipped) = rule.relationship.storage,
                    case .links(let origin, let originIsFlipped) = related.storage
                else { continue }
                let position: Int
                if let known = jobs.firstIndex(where: {
                    $0.owner.number == owner && $0.origin.number == origin
                        && $0.isFlipped == (isFlipped != originIsFlipped)
                }) {
                    position = known
                } else {
                    position = jobs.count
                    jobs.append(
                        LinkJob(
                            owner: plan.destination.relationships[owner], origin: plan.source.relationships[origin],
                            isFlipped: isFlipped != originIsFlipped, pairs: []))
                }
                for target in targets {
                    jobs[position].add(mapping, target: plan.mappings[target], rule: index, isFlipped: isFlipped)
                }
            }
        }
        return jobs
    }

    private mutating func add(_ mapping: PolicyMapping, target: PolicyMapping, rule: Int, isFlipped: Bool) {
        if isFlipped || owner.isReflexive { pairs[position(of: target, target: mapping)].targetRule = rule }
        if !isFlipped { pairs[position(of: mapping, target: target)].sourceRule = rule }
    }

    private mutating func position(of source: PolicyMapping, target: PolicyMapping) -> Int {
        if let known = pairs.firstIndex(where: { $0.source === source && $0.target === target }) { return known }
        pairs.append(Pair(source: source, target: target))
        return pairs.count - 1
    }

    /// The numbers of the mappings whose objects must be finished before the links are created.
    var mappings: Set<Int> { Set(pairs.flatMap { [$0.source.number, $0.target.number] }) }

    /// Creates all links.
    ///
    /// The rules do not apply to `exceptions`. `isAlone` is true if no other job creates links of
    /// the relationship.
    func run(_ session: MigrationSession, exceptions: RelationshipExceptions, isAlone: Bool) throws {
        let isUntouched =
            !session.content.policies.relationships.contains(owner.number)
            || onlyWhereExcepted(session, exceptions: exceptions)
        let isInjective = mappings.allSatisfy { session.associations.isInjective(in: $0) }
        guard isAlone, isUntouched, isInjective else { return try makeEach(session, exceptions: exceptions) }
        if try isIdentity(session, exceptions: exceptions) {
            try stream(session) { (batch) throws(StoreError) in batch }
        } else {
            try translate(session, exceptions: exceptions)
        }
    }

    /// Returns whether policies set the relationship only in objects recorded as exceptions.
    private func onlyWhereExcepted(_ session: MigrationSession, exceptions: RelationshipExceptions) -> Bool {
        !session.setInFirstPass.contains(owner.number) && !exceptions.setElsewhere.contains(owner.number)
    }

    // MARK: All at once

    private func stream(
        _ session: MigrationSession, _ transform: (LinkBatch) throws(StoreError) -> LinkBatch
    ) throws(StoreError) {
        let cursor = try session.source.snapshot.links(of: origin.name, after: nil)
        let isCounted = session.source.found.begins(linksOf: origin.number)
        while true {
            try session.checkCancellation()
            var batch = session.content.spareLinks(origin.number)
            guard try cursor.next(into: &batch) else { return }
            if isCounted { session.source.found.add(batch) }
            batch.relationship = owner.number
            for index in batch.links.indices {
                let link = batch.links[index]
                batch.links[index] = owner.normalized(isFlipped ? link.flipped : link)
            }
            try session.content.write(try transform(batch))
        }
    }

    /// Returns whether the source's links can be copied unchanged.
    ///
    /// All objects at both ends must keep their keys, and no link may be left out.
    private func isIdentity(
        _ session: MigrationSession, exceptions: RelationshipExceptions
    ) throws(StoreError) -> Bool {
        for pair in pairs {
            if let rule = pair.sourceRule, exceptions.hasAny(pair.source, rule: rule) { return false }
            if let rule = pair.targetRule, exceptions.hasAny(pair.target, rule: rule) { return false }
        }
        let (sources, targets) = (Set(pairs.map(\.source.number)), Set(pairs.map(\.target.number)))
        // Every mapping at one end must be paired with every mapping at the other end, and each source entity must have
        // exactly one mapping.
        guard pairs.count == sources.count * targets.count else { return false }
        let ends = isFlipped ? (origin.destination, origin.source) : (origin.source, origin.destination)
        guard try isWhole(sources, of: ends.0, session: session) else { return false }
        return try isWhole(targets, of: ends.1, session: session)
    }

    private func isWhole(_ mappings: Set<Int>, of entity: Int, session: MigrationSession) throws(StoreError) -> Bool {
        let model = session.sourceModel
        for number in model.entities[entity].selfAndSubentities {
            let count = try session.source.count(of: model.entities[number])
            let candidates = mappings.map { session.plan.mappings[$0] }.filter { $0.source?.number == number }
            if count == 0, candidates.isEmpty { continue }
            guard candidates.count == 1, let destination = candidates[0].destination,
                session.associations.count(in: candidates[0].number) == count,
                session.associations.keepsKeys(in: candidates[0].number, for: destination.number)
            else { return false }
        }
        return true
    }

    /// Translates each link of the source into links between the associated destination objects.
    private func translate(_ session: MigrationSession, exceptions: RelationshipExceptions) throws(StoreError) {
        let ends = isFlipped ? (origin.destination, origin.source) : (origin.source, origin.destination)
        // The lookup uses only hierarchy and key, so the entities of the relationship's ends suffice.
        var (sources, targets): ([AssociationTable.Object], [AssociationTable.Object]) = ([], [])
        try stream(session) { (batch) throws(StoreError) in
            var translated = session.content.spareLinks(owner.number)
            for link in batch.links {
                for pair in pairs {
                    sources.removeAll(keepingCapacity: true)
                    targets.removeAll(keepingCapacity: true)
                    try session.associations.appendDestinations(
                        of: .init(entity: ends.0, key: link.source), in: pair.source.number, to: &sources)
                    guard !sources.isEmpty else { continue }
                    try session.associations.appendDestinations(
                        of: .init(entity: ends.1, key: link.target), in: pair.target.number, to: &targets)
                    for source in sources {
                        for target in targets
                        where try isWanted(source, target: target, pair: pair, exceptions: exceptions) {
                            translated.links.append(
                                owner.normalized(
                                    Link(source.key, target.key, order: link.order, inverseOrder: link.inverseOrder)))
                        }
                    }
                }
            }
            return translated
        }
    }

    private func isWanted(
        _ source: AssociationTable.Object, target: AssociationTable.Object, pair: Pair,
        exceptions: RelationshipExceptions
    ) throws(StoreError) -> Bool {
        if let rule = pair.sourceRule, try exceptions.isSet(source, mapping: pair.source, rule: rule) { return false }
        if let rule = pair.targetRule, try exceptions.isSet(target, mapping: pair.target, rule: rule) { return false }
        if let rule = pair.sourceRule, try !exceptions.isLeftOut(source, mapping: pair.source, rule: rule) {
            return true
        }
        if let rule = pair.targetRule, try !exceptions.isLeftOut(target, mapping: pair.target, rule: rule) {
            return true
        }
        return false
    }

    // MARK: Object by object

    private func makeEach(_ session: MigrationSession, exceptions: RelationshipExceptions) throws {
        var done: Set<Int> = []
        for pair in pairs {
            if let rule = pair.sourceRule, done.insert(pair.source.number).inserted {
                try makeEach(pair.source, rule: rule, session: session, exceptions: exceptions)
            }
        }
        done = []
        for pair in pairs {
            // If the rule of the source end applies to all objects, it has already created these links.
            let isMade = pair.sourceRule.map { !exceptions.hasAny(pair.source, rule: $0) } ?? false
            if let rule = pair.targetRule, !isMade, done.insert(pair.target.number).inserted {
                try makeEach(pair.target, rule: rule, session: session, exceptions: exceptions)
            }
        }
        try keepOrder(session, exceptions: exceptions)
    }

    /// Restores the source store's order at ordered ends.
    ///
    /// Links created from one end are in the order of creation at the other end.
    private func keepOrder(
        _ session: MigrationSession, exceptions: RelationshipExceptions
    ) throws(StoreError) {
        let inverse = origin.inverse.map { session.sourceModel.relationships[$0] }
        let (forward, backward) = isFlipped ? (inverse, origin) : (origin, inverse)
        if owner.isOrdered, let forward {
            try keepOrder(
                of: owner, by: forward, ends: pairs.map { ($0.source, $0.sourceRule, $0.target) }, session: session,
                exceptions: exceptions)
        }
        if let back = owner.inverse, back != owner.number, owner.inverseIsOrdered, let backward {
            try keepOrder(
                of: session.destinationModel.relationships[back], by: backward,
                ends: pairs.map { ($0.target, $0.targetRule, $0.source) }, session: session, exceptions: exceptions)
        }
    }

    private func keepOrder(
        of relationship: ManagedObjectModel.Relationship, by related: ManagedObjectModel.Relationship,
        ends: [(end: PolicyMapping, rule: Int?, other: PolicyMapping)], session: MigrationSession,
        exceptions: RelationshipExceptions
    ) throws(StoreError) {
        var done: Set<Int> = []
        for (end, _, _) in ends where done.insert(end.number).inserted {
            let pairs = ends.filter { $0.end === end }
            let (rule, others) = (pairs.lazy.compactMap(\.rule).first, pairs.map(\.other.number))
            let objects = try session.associations.destinations(in: end.number)
            while let place = try objects.next() {
                // Relationships that a policy set keep the policy's order.
                if let rule, try exceptions.isSet(place, mapping: end, rule: rule) { continue }
                let object = DestinationObject(content: session.content, entityNumber: place.entity, key: place.key)
                var wanted: [AssociationTable.Object] = []
                for source in try session.sources(of: object, in: end.number) {
                    for id in try session.source.destinationIDs(of: related.name.name, from: source) {
                        guard let entity = session.sourceModel.entity(id.entity)?.number else { continue }
                        for other in others {
                            try session.associations.appendDestinations(
                                of: .init(entity: entity, key: id.key), in: other, to: &wanted)
                        }
                    }
                }
                let rank = Dictionary(
                    wanted.enumerated().map { ($1.key, $0) }, uniquingKeysWith: { first, _ in first })
                let current = try session.content.destinations(of: relationship.name.name, from: object)
                // Objects with a position in the source come first. The others follow in their current order.
                let ordered = current.enumerated().sorted { left, right in
                    let ranks = (rank[left.element.key] ?? .max, rank[right.element.key] ?? .max)
                    return ranks.0 != ranks.1 ? ranks.0 < ranks.1 : left.offset < right.offset
                }.map(\.element)
                guard ordered != current else { continue }
                try session.content.set(relationship, of: object, to: ordered)
                try session.content.writeIfFull()
            }
        }
    }

    private func makeEach(
        _ mapping: PolicyMapping, rule: Int, session: MigrationSession, exceptions: RelationshipExceptions
    ) throws {
        let builder = try RelationshipBuilder(mapping, exceptions: exceptions, session: session)
        let objects = try session.associations.destinations(in: mapping.number)
        while let place = try objects.next() {
            guard try !exceptions.isLeftOut(place, mapping: mapping, rule: rule),
                try !exceptions.isSet(place, mapping: mapping, rule: rule)
            else { continue }
            let object = DestinationObject(content: session.content, entityNumber: place.entity, key: place.key)
            try builder.make(rule, of: object, sources: try session.sources(of: object, in: mapping.number))
            try session.content.writeIfFull()
        }
    }
}
