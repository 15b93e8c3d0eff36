internal import RoostCore
internal import RoostQuery

/// The second pass over the objects of one entity mapping.
///
/// A field that the first pass wrote (``RelationshipRule/Way/field``) is set again if it may be
/// wrong. Links that a policy reads or sets are created here. Most other links are created together
/// later.
final class RelationshipBuilder {
    let mapping: PolicyMapping
    private let exceptions: RelationshipExceptions
    private unowned let session: MigrationSession
    /// The indexes of the rules that are applied object by object.
    private let eachRules: [Int]
    private let compiled: [Int: ExpressionEvaluator]
    private var object: DestinationObject?
    private var sources: [SourceObject]?
    private var hasStandard = false
    private var explicit: Set<Int> = []

    init(_ mapping: PolicyMapping, exceptions: RelationshipExceptions, session: MigrationSession) throws(StoreError) {
        self.mapping = mapping
        self.exceptions = exceptions
        self.session = session
        var (each, compiled): ([Int], [Int: ExpressionEvaluator]) = ([], [:])
        for (index, rule) in mapping.rules.enumerated() {
            switch rule.way {
            case .links, .given: break
            case .field: if try !Self.isClean(rule, mapping: mapping, session: session) { each.append(index) }
            case .each: each.append(index)
            }
            if case .objects(let expression, _) = rule.origin, let source = mapping.source {
                compiled[index] = try CompiledExpression(
                    expression, for: source.name, model: session.sourceModel
                ).evaluator(over: session.source.objectGraph)
            }
        }
        eachRules = each
        self.compiled = compiled
    }

    /// Returns whether a field that a rule wrote in the first pass is still correct.
    private static func isClean(
        _ rule: RelationshipRule, mapping: PolicyMapping, session: MigrationSession
    ) throws(StoreError) -> Bool {
        let associations = session.associations
        guard mapping.standardCount == associations.count(in: mapping.number),
            !session.content.policies.relationships.contains(rule.relationship.number)
        else { return false }
        var taken: Set<Int> = []
        for target in rule.targets.map({ session.plan.mappings[$0] }) {
            guard let source = target.source, let destination = target.destination,
                taken.insert(source.number).inserted, target.keepsKeys,
                associations.keepsKeys(in: target.number, for: destination.number),
                associations.count(in: target.number) == (try session.source.count(of: source))
            else { return false }
        }
        return true
    }

    var isIdle: Bool { mapping.policy == nil && eachRules.isEmpty }
    /// Whether rules apply object by object, so that the mapping's objects must be read.
    var makesEach: Bool { !eachRules.isEmpty }

    // MARK: One object

    func isMaking(_ object: DestinationObject) -> Bool { self.object == object }

    /// Creates the relationships of one object by calling `callback`.
    ///
    /// `sources` is nil if the source objects are not yet known.
    func make(_ object: DestinationObject, sources: [SourceObject]?, _ callback: () throws -> Void) throws {
        self.object = object
        self.sources = sources
        hasStandard = false
        explicit.removeAll(keepingCapacity: true)
        defer {
            self.object = nil
            self.sources = nil
        }
        try callback()
        guard !hasStandard else { return }
        for index in mapping.rules.indices { try exceptions.leaveOut(object, mapping: mapping, rule: index) }
    }

    /// Applies the rules that work object by object to the current object.
    func makeStandardRelationships(_ session: MigrationSession) throws {
        hasStandard = true
        for index in eachRules { try make(index) }
    }

    private func make(_ index: Int) throws {
        guard let object else { return }
        try make(index, of: object, sources: try currentSources())
    }

    private func currentSources() throws(StoreError) -> [SourceObject] {
        if let sources { return sources }
        guard let object else { return [] }
        let found = try session.sources(of: object, in: mapping.number)
        sources = found
        return found
    }

    /// Sets a rule's relationship in an object to the destinations that the rule finds.
    func make(_ index: Int, of object: DestinationObject, sources: [SourceObject]) throws {
        let rule = mapping.rules[index]
        let manner = session.plan.manner(of: rule)
        for (position, source) in sources.enumerated() {
            let found = try destinations(rule, index: index, source: source, object: object)
            let destinations = rule.relationship.isToMany ? found : Array(found.prefix(1))
            if case .policy = rule.origin {
                try session.content.setGiven(rule.relationship, of: object, to: destinations)
                continue
            }
            // The last source object with a destination determines the value, so the previous value is
            // removed.
            if position > 0, manner == .adding, !rule.relationship.isToMany, !destinations.isEmpty {
                try session.content.set(rule.relationship, of: object, to: [])
            }
            let order = rule.relationship.isToMany || destinations.isEmpty ? nil : rule.orderPlace(source)
            try session.content.set(
                rule.relationship, of: object, to: destinations, manner: manner, place: order?.place)
            if let order { try session.content.set(order.field, of: object, to: .int(order.place)) }
        }
    }

    private func destinations(
        _ rule: RelationshipRule, index: Int, source: SourceObject, object: DestinationObject
    ) throws -> [DestinationObject] {
        var found: [AssociationTable.Object] = []
        switch rule.origin {
        case .related(let related, let targets):
            let ids = try session.source.destinationIDs(of: related.name.name, from: source)
            try append(ids, by: targets, to: &found)
        case .objects(_, let targets):
            guard let evaluator = compiled[index] else { return [] }
            let values = try source.batch.records.withRecord(at: source.index) { (record) throws(StoreError) in
                try evaluator.values(of: record)
            }
            let ids = values.compactMap { value -> ObjectID? in
                if case .objectID(let id) = value { id } else { nil }
            }
            try append(ids, by: targets, to: &found)
        case .all(let target):
            let all = try session.associations.destinations(in: target)
            while let next = try all.next() { found.append(next) }
        case .policy(let expression, let property):
            let call = PolicyCall(source: source, destination: object.id, property: property, mapping: mapping)
            let value = try expression.compiled(for: source.id.entity, source: session.source).value(
                call, session: session)
            guard !value.isNull else { return [] }
            guard case .objectID(let id) = value, let number = session.destinationModel.entity(id.entity)?.number else {
                throw StoreError(
                    .invalidValue,
                    "The policy of mapping '\(mapping.declaration.name)' gave \(value.kindDescription) for relationship '\(rule.relationship.name)'; give the ID of an object of the destination, or null."
                )
            }
            found = [.init(entity: number, key: id.key)]
        }
        let entity = session.destinationModel.entities[rule.relationship.destination]
        return found.filter { entity.includes($0.entity) }.uniqued()
            .map { DestinationObject(content: session.content, entityNumber: $0.entity, key: $0.key) }
    }

    private func append(
        _ ids: [ObjectID], by targets: [Int], to found: inout [AssociationTable.Object]
    ) throws(StoreError) {
        for id in ids {
            guard let entity = session.sourceModel.entity(id.entity)?.number else { continue }
            for target in targets {
                try session.associations.appendDestinations(
                    of: .init(entity: entity, key: id.key), in: target, to: &found)
            }
        }
    }

    /// Sets the field of a rule again in each object for which a policy omitted the standard
    /// behavior.
    ///
    /// The field becomes null unless the inverse's rule creates the pair from the other end.
    func settle(_ index: Int) throws {
        let rule = mapping.rules[index]
        let objects = try exceptions.leftOut(mapping, rule: index)
        while let place = try objects.next() {
            guard try !exceptions.isSet(place, mapping: mapping, rule: index),
                try !session.content.policies.includes(rule.relationship, of: place)
            else { continue }
            let object = DestinationObject(content: session.content, entityNumber: place.entity, key: place.key)
            var given: DestinationObject?
            for source in try session.sources(of: object, in: mapping.number) {
                for candidate in try destinations(rule, index: index, source: source, object: object).prefix(1)
                where try isGiven(rule, by: candidate) { given = candidate }
            }
            try session.content.set(rule.relationship, of: object, to: given.map { [$0] } ?? [])
            try session.content.writeIfFull()
        }
    }

    /// Returns whether the inverse's rule applies to a destination, and so creates the pair.
    private func isGiven(_ rule: RelationshipRule, by object: DestinationObject) throws(StoreError) -> Bool {
        guard let inverse = rule.relationship.inverse else { return false }
        let place = AssociationTable.Object(entity: object.entityNumber, key: object.key)
        for target in rule.targets.map({ session.plan.mappings[$0] }) {
            guard let back = target.rules.firstIndex(where: { $0.relationship.number == inverse }) else { continue }
            var found: [AssociationTable.Object] = []
            try session.associations.appendSources(of: place, in: target.number, to: &found)
            if !found.isEmpty, try !exceptions.isLeftOut(place, mapping: target, rule: back) { return true }
        }
        return false
    }

    // MARK: Actions of policies

    /// Creates the links of the current object before a policy reads them.
    func willRead(_ relationship: ManagedObjectModel.Relationship, of object: DestinationObject) throws(StoreError) {
        guard hasStandard, self.object == object,
            let index = mapping.rules.firstIndex(where: { $0.relationship.number == relationship.number }),
            mapping.rules[index].way == .links, explicit.insert(index).inserted
        else { return }
        try exceptions.noteSet(object, mapping: mapping, rule: index)
        do { try make(index) } catch let error as StoreError { throw error } catch {
            throw StoreError(.migrationFailed, "The links of \(object.id) could not be made.", underlying: error)
        }
    }

    func willSet(_ relationship: ManagedObjectModel.Relationship, of object: DestinationObject) throws(StoreError) {
        guard self.object == object,
            let index = mapping.rules.firstIndex(where: { $0.relationship.number == relationship.number })
        else { return exceptions.noteSet(relationship) }
        guard explicit.insert(index).inserted else { return }
        try exceptions.noteSet(object, mapping: mapping, rule: index)
    }
}

extension MigrationSession {
    func sources(of object: DestinationObject, in mapping: Int) throws(StoreError) -> [SourceObject] {
        var found: [AssociationTable.Object] = []
        try associations.appendSources(of: .init(entity: object.entityNumber, key: object.key), in: mapping, to: &found)
        return try source.objects(
            with: found.uniqued().map { ObjectID(sourceModel.entities[$0.entity].name, key: $0.key) })
    }
}

/// The exceptions to rules, by object.
///
/// A rule does not apply to an object for which a policy omitted the standard behavior or set the
/// relationship. An object whose links a policy read is also an exception, because the rule was
/// already applied.
final class RelationshipExceptions {
    private let leftOut: AssociationTable
    private let setByPolicy: AssociationTable
    private let firstRule: [Int]
    /// The numbers of the relationships that a policy set without a rule or outside the current
    /// object, and of their inverses.
    private(set) var setElsewhere: Set<Int> = []

    init(_ plan: PolicyPlan, directories: [String]) {
        var (firstRule, count) = ([Int](), 0)
        for mapping in plan.mappings {
            firstRule.append(count)
            count += mapping.rules.count
        }
        self.firstRule = firstRule
        leftOut = AssociationTable(
            mappingCount: count, from: plan.destination, to: plan.destination, memoryByteCount: 2 << 20,
            directories: directories)
        setByPolicy = AssociationTable(
            mappingCount: count, from: plan.destination, to: plan.destination, memoryByteCount: 2 << 20,
            directories: directories)
    }

    func leaveOut(_ object: DestinationObject, mapping: PolicyMapping, rule: Int) throws(StoreError) {
        let place = AssociationTable.Object(entity: object.entityNumber, key: object.key)
        try leftOut.associate(place, with: place, in: firstRule[mapping.number] + rule)
    }

    func noteSet(_ object: DestinationObject, mapping: PolicyMapping, rule: Int) throws(StoreError) {
        let place = AssociationTable.Object(entity: object.entityNumber, key: object.key)
        try setByPolicy.associate(place, with: place, in: firstRule[mapping.number] + rule)
    }

    func noteSet(_ relationship: ManagedObjectModel.Relationship) {
        setElsewhere.insert(relationship.number)
        if let inverse = relationship.inverse { setElsewhere.insert(inverse) }
    }

    func isLeftOut(_ place: AssociationTable.Object, mapping: PolicyMapping, rule: Int) throws(StoreError) -> Bool {
        try Self.contains(place, table: leftOut, number: firstRule[mapping.number] + rule)
    }

    /// Returns whether a policy set the relationship of an object or read its links.
    func isSet(_ place: AssociationTable.Object, mapping: PolicyMapping, rule: Int) throws(StoreError) -> Bool {
        try Self.contains(place, table: setByPolicy, number: firstRule[mapping.number] + rule)
    }

    func hasAny(_ mapping: PolicyMapping, rule: Int) -> Bool {
        let number = firstRule[mapping.number] + rule
        return leftOut.count(in: number) > 0 || setByPolicy.count(in: number) > 0
    }

    func leftOut(_ mapping: PolicyMapping, rule: Int) throws(StoreError) -> AssociatedObjects {
        try leftOut.destinations(in: firstRule[mapping.number] + rule)
    }

    private static func contains(
        _ place: AssociationTable.Object, table: AssociationTable, number: Int
    ) throws(StoreError) -> Bool {
        guard table.count(in: number) > 0 else { return false }
        var found: [AssociationTable.Object] = []
        try table.appendDestinations(of: place, in: number, to: &found)
        return !found.isEmpty
    }
}
