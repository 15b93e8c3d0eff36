internal import RoostCore
internal import RoostQuery

/// Finds the best access (``KeyAccess``) to the objects that can match a request's predicate.
///
/// The planner reads object counts, but no objects. The choice affects the speed of a fetch, never
/// the result. The request must be compiled first (``RecordFilter``), so that names, types and
/// nesting are valid.
struct FetchPlanner {
    let entity: ManagedObjectModel.Entity
    let includesSubentities: Bool
    private let snapshot: KeyValueSnapshot
    /// The number of relationships between the entity of the outermost request and this entity.
    private let hopCount: Int

    private static let maximumHopCount = 8
    /// The maximum number of combinations of listed values to look up in one index.
    private static let maximumRangeCount = 100_000

    init(
        _ entity: ManagedObjectModel.Entity, includesSubentities: Bool, in snapshot: KeyValueSnapshot, hopCount: Int = 0
    ) {
        self.entity = entity
        self.includesSubentities = includesSubentities
        self.snapshot = snapshot
        self.hopCount = hopCount
    }

    private var model: ManagedObjectModel { snapshot.model }
    private var plan: StorePlan { snapshot.plan }

    /// Returns the best plan for a request.
    ///
    /// An index that provides only the order is used only if the request has a limit and no
    /// conditions. With conditions, the fetch might read the whole index, which takes much longer
    /// than reading all objects without an index.
    func planned(_ checked: CheckedFetchRequest) throws(StoreError) -> PlannedFetch {
        let request = checked.request
        let conjuncts = request.predicate?.conjuncts ?? []
        var choice = try choice(conjuncts)
        var order: IndexOrder?
        if case .entries(let entries) = choice?.access { order = IndexOrder(request, entries: entries) }
        if choice == nil, conjuncts.isEmpty, request.fetchLimit != nil, !request.sortDescriptors.isEmpty {
            for values in plan.entities[entity.number].indexes where isWhole(owner(of: values, space: .indexes)) {
                let entries = IndexEntries(
                    space: .indexes, values: values, name: name(of: values, space: .indexes),
                    ranges: [KeyRange(prefix: StorageKey(number: values.number).bytes)], equalCount: 0, listCount: 0)
                guard let found = IndexOrder(request, entries: entries) else { continue }
                order = found
                choice = AccessChoice(
                    access: .entries(entries), rank: AccessRank(kind: .halfRange), decided: [], isCountable: true)
                break
            }
        }
        return PlannedFetch(entity: entity, request: checked, conjuncts: conjuncts, choice: choice, order: order)
    }

    /// Returns the best access for conditions that must all be true, or nil.
    func choice(_ conjuncts: [FetchRequest.Predicate]) throws(StoreError) -> AccessChoice? {
        var best: AccessChoice?
        var conditions: [String: IndexedCondition] = [:]
        var throughToOne: [Int: RelatedCondition] = [:]
        for (position, conjunct) in conjuncts.enumerated() {
            switch conjunct {
            case .constant(false): best = .better(best, nothing(position))
            case .or(let members): best = .better(best, try union(members, position: position))
            case .comparison(let comparison):
                if let field = field(comparison) {
                    best = .better(best, references(field, comparison: comparison, position: position))
                    guard isIndexed(field), let values = comparison.constants,
                        let condition = FieldCondition(
                            field, comparison: comparison.operator, values: values, model: model)
                    else { continue }
                    guard !condition.ranges.isEmpty else {
                        best = .better(best, nothing(position))
                        continue
                    }
                    conditions[field.name, default: IndexedCondition(condition: condition, positions: [])]
                        .add(condition, position: position)
                } else if let keys = wantedKeys(comparison) {
                    best = .better(
                        best,
                        AccessChoice(
                            access: .keys(keys), rank: AccessRank(kind: .keys, detail: keys.count), decided: [position],
                            isCountable: false))
                } else if let related = RelatedCondition(comparison, position: position, entity: entity, model: model) {
                    if related.relationship.isToMany {
                        best = .better(best, try sources(related))
                    } else {
                        throughToOne[related.relationship.number, default: related].add(related)
                    }
                }
            case .constant(true), .and, .not: break
            }
        }
        for condition in conditions.values where condition.condition.ranges.isEmpty {
            best = .better(
                best,
                AccessChoice(
                    access: .nothing, rank: AccessRank(kind: .nothing), decided: condition.positions, isCountable: true)
            )
        }
        if !conditions.isEmpty { best = .better(best, indexed(conditions)) }
        for number in throughToOne.keys.sorted() {
            if let related = throughToOne[number] { best = .better(best, try sources(related)) }
        }
        return best
    }

    private func nothing(_ position: Int) -> AccessChoice {
        AccessChoice(access: .nothing, rank: AccessRank(kind: .nothing), decided: [position], isCountable: true)
    }

    /// Returns whether the request includes exactly the objects of an entity and its subentities.
    private func isWhole(_ number: Int) -> Bool {
        number == entity.number && (includesSubentities || !entity.hasSubentities)
    }

    // MARK: OR

    /// Returns the union of the accesses of an OR's members; nil if a member has no access.
    ///
    /// Conditions on one relationship are combined, so that one request finds all their related
    /// objects.
    private func union(_ members: [FetchRequest.Predicate], position: Int) throws(StoreError) -> AccessChoice? {
        var related: [Int: [RelatedCondition]] = [:]
        var choices: [(choice: AccessChoice, conjunctCount: Int)] = []
        for member in members {
            if case .comparison(let comparison) = member, field(comparison) == nil, wantedKeys(comparison) == nil,
                let condition = RelatedCondition(comparison, position: 0, entity: entity, model: model),
                condition.isOfAny
            {
                related[condition.relationship.number, default: []].append(condition)
                continue
            }
            let conjuncts = member.conjuncts
            guard let choice = try choice(conjuncts) else { return nil }
            choices.append((choice, conjuncts.count))
        }
        for number in related.keys.sorted() {
            guard let condition = related[number].flatMap(RelatedCondition.init(anyOf:)),
                let choice = try sources(condition)
            else { return nil }
            choices.append((choice, 1))
        }
        // Several scans of related objects would cost more than a scan of the entity itself.
        guard choices.count(where: { $0.choice.rank.kind == .scanOfOthers }) <= 1 else { return nil }
        var worst = choices.map(\.choice.rank).max() ?? AccessRank(kind: .nothing)
        // Even if each member finds only one object, the union can find several.
        if choices.count > 1 { worst = max(worst, AccessRank(kind: .several, detail: choices.count)) }
        return AccessChoice(
            access: .union(choices.map(\.choice.access)), rank: worst,
            decided: choices.allSatisfy { $0.choice.decided.count == $0.conjunctCount } ? [position] : [],
            isCountable: choices.allSatisfy(\.choice.isCountable))
    }

    // MARK: The object's own properties

    /// The combined condition of several comparisons of one property.
    private struct IndexedCondition {
        var condition: FieldCondition
        /// The positions of the conjuncts with these comparisons.
        var positions: Set<Int>

        mutating func add(_ other: FieldCondition, position: Int) {
            if !positions.isEmpty { condition = condition.intersection(other) }
            positions.insert(position)
        }
    }

    /// Returns the property that a comparison compares directly and byte by byte, or nil.
    private func field(_ comparison: FetchRequest.Comparison) -> RecordLayout.Field? {
        guard comparison.modifier == .direct, comparison.comparesBytes, case .keyPath(let path) = comparison.left else {
            return nil
        }
        return entity.layout.field(path.count == 1 ? path[0] : path.joined(separator: "."))
    }

    private func isIndexed(_ field: RecordLayout.Field) -> Bool {
        let plan = plan.entities[entity.number]
        return plan.indexes.contains { $0.fields.contains { $0.index == field.index } }
            || plan.constraints.contains { $0.fields.contains { $0.index == field.index } }
    }

    /// Returns an access to the objects whose to-one relationship refers to given objects, or nil.
    private func references(
        _ field: RecordLayout.Field, comparison: FetchRequest.Comparison, position: Int
    ) -> AccessChoice? {
        guard field.kind == .reference || field.kind == .polymorphicReference, let number = field.relationship,
            comparison.operator == .equal || comparison.operator == .isIn, let destination = field.destination,
            let values = comparison.constants, !values.contains(where: \.isNull)
        else { return nil }
        let keys = self.keys(values, root: model.entities[destination].root)
        return AccessChoice(
            access: .references(number, to: keys),
            rank: keys.count == 1
                ? AccessRank(kind: .equality, detail: -2) : AccessRank(kind: .several, detail: keys.count),
            decided: [position], isCountable: isWhole(model.relationships[number].source))
    }

    /// Returns the keys that `==` or `IN` compares with `SELF` or `objectID`, or nil.
    private func wantedKeys(_ comparison: FetchRequest.Comparison) -> [Int64]? {
        guard comparison.modifier == .direct, comparison.operator == .equal || comparison.operator == .isIn,
            let values = comparison.constants
        else { return nil }
        switch comparison.left {
        case .evaluatedObject: break
        case .keyPath(["objectID"]) where entity.layout.field("objectID") == nil: break
        default: return nil
        }
        return keys(values, root: entity.root)
    }

    /// Returns the keys of the object IDs that belong to one hierarchy, in ascending order.
    private func keys(_ values: [Value], root: Int) -> [Int64] {
        var keys: [Int64] = []
        for case .objectID(let id) in values where id.key > 0 && model.entity(id.entity)?.root == root {
            keys.append(id.key)
        }
        return keys.inOrder()
    }

    // MARK: Indexes

    private func indexed(_ conditions: [String: IndexedCondition]) -> AccessChoice? {
        var best: AccessChoice?
        let plan = plan.entities[entity.number]
        for values in plan.constraints {
            // A constraint has no entry for an object with null in one of the constrained properties.
            guard values.fields.allSatisfy({ conditions[$0.name]?.condition.excludesNull ?? false }) else { continue }
            best = .better(best, entries(of: values, space: .unique, conditions: conditions))
        }
        for values in plan.indexes {
            best = .better(best, entries(of: values, space: .indexes, conditions: conditions))
        }
        return best
    }

    /// Returns an access to the entries that match the conditions; nil without a usable condition
    /// on the first property.
    ///
    /// The access uses conditions on the leading properties, up to and including the first
    /// condition that is not a list of values.
    private func entries(
        of values: StorePlan.Values, space: KeySpace, conditions: [String: IndexedCondition]
    ) -> AccessChoice? {
        var prefixes = [StorageKey(number: values.number).bytes]
        var tail = (ranges: [KeyRange(prefix: [])], strength: FieldCondition.Strength.values)
        var (decided, equalCount, listCount) = (Set<Int>(), 0, 0)
        for (field, isAscending) in zip(values.fields, values.isAscending) {
            guard let indexed = conditions[field.name], !indexed.condition.ranges.isEmpty else { break }
            let condition = indexed.condition
            let ranges = isAscending ? condition.ranges : condition.ranges.reversed().map(\.inverted)
            guard condition.strength == .values else {
                decided.formUnion(indexed.positions)
                tail = (ranges, condition.strength)
                break
            }
            guard prefixes.count * ranges.count <= Self.maximumRangeCount else { break }
            decided.formUnion(indexed.positions)
            if condition.isOneValue, equalCount == listCount { equalCount += 1 }
            listCount += 1
            prefixes = prefixes.flatMap { prefix in ranges.map { prefix + $0.start.bytes } }
        }
        guard !decided.isEmpty else { return nil }
        // Only this many bytes of a shortened key are in the order of the values. A hash follows.
        let limit = plan.keyLimit - IndexKeyEncoding.shortenedTail
        var (ranges, isExact) = ([KeyRange](), true)
        for prefix in prefixes {
            for part in tail.ranges {
                let (range, isWhole) = part.behind(prefix, limit: limit)
                isExact = isExact && isWhole
                if ranges.last != range { ranges.append(range) }
            }
        }
        let kind: AccessRank.Kind
        var detail = -2 * equalCount
        if listCount > 0, equalCount == listCount {
            kind = space == .unique && listCount == values.fields.count ? .unique : .equality
            if tail.strength != .values { detail -= 1 }
        } else if listCount > 0 {
            kind = .several
            detail = prefixes.count - listCount * Self.maximumRangeCount
        } else {
            kind =
                switch tail.strength {
                case .values, .prefix: .prefix
                case .range: .range
                case .halfRange: .halfRange
                }
        }
        let entries = IndexEntries(
            space: space, values: values, name: name(of: values, space: space), ranges: ranges, equalCount: equalCount,
            listCount: listCount)
        return AccessChoice(
            access: .entries(entries), rank: AccessRank(kind: kind, detail: detail), decided: isExact ? decided : [],
            isCountable: isExact && isWhole(owner(of: values, space: space)))
    }

    private func name(of values: StorePlan.Values, space: KeySpace) -> String {
        guard space == .indexes, let index = entity.fetchIndexes.first(where: { $0.number == values.number }) else {
            return values.fields.map(\.name).joined(separator: ", ")
        }
        return index.declaration.name
    }

    private func owner(of values: StorePlan.Values, space: KeySpace) -> Int {
        let index = space == .indexes ? entity.fetchIndexes.first { $0.number == values.number }?.entity : nil
        return index ?? entity.uniquenessConstraints.first { $0.number == values.number }?.entity ?? -1
    }

    // MARK: Related objects

    /// Returns an access to the objects whose related objects match a condition.
    ///
    /// A separate request finds the related objects. The result is nil if that request must scan an
    /// entity with more than about 32 times as many objects as ``entity``.
    private func sources(_ related: RelatedCondition) throws(StoreError) -> AccessChoice? {
        guard hopCount < Self.maximumHopCount else { return nil }
        let relationship = related.relationship
        let destination = model.entities[relationship.destination]
        let inner = FetchRequest(destination.name, where: .and(related.predicates))
        let planner = FetchPlanner(
            destination, includesSubentities: inner.includesSubentities, in: snapshot, hopCount: hopCount + 1)
        var rank: AccessRank
        if let choice = try planner.choice(related.predicates.flatMap(\.conjuncts)) {
            rank = max(choice.rank, AccessRank(kind: .several))
            rank.detail += 1000
        } else {
            guard try snapshot.objectCount(destination) <= 64 + 32 * (try snapshot.objectCount(entity)) else {
                return nil
            }
            rank = AccessRank(kind: .scanOfOthers)
        }
        // The source of a to-one relationship exists. The source of a derived relationship is the
        // destination of a to-one reference, which may not exist.
        let exist = if case .field = relationship.storage { true } else { false }
        return AccessChoice(
            access: .sources(relationship, of: inner, atLeast: related.leastCount), rank: rank,
            decided: related.isExact ? related.positions : [], isCountable: exist && isWhole(relationship.source))
    }
}

extension FetchRequest.Comparison {
    /// Whether strings are compared without options that change the result.
    var comparesBytes: Bool { options.subtracting(.normalized).isEmpty }

    /// The constant on the right side, or the members of a list of constants; otherwise nil.
    var constants: [Value]? {
        switch (self.operator, right) {
        case (.isIn, .aggregate(let members)), (.between, .aggregate(let members)):
            var values: [Value] = []
            values.reserveCapacity(members.count)
            for member in members {
                guard case .constant(let value) = member else { return nil }
                values.append(value)
            }
            return values
        case (.isIn, _), (.between, _): return nil
        case (_, .constant(let value)): return [value]
        default: return nil
        }
    }
}

extension [Int64] {
    /// Returns the keys in ascending order without duplicates.
    ///
    /// Keys from consecutive index entries mostly have this order already.
    func inOrder() -> [Int64] {
        guard !zip(self, dropFirst()).allSatisfy({ $0 < $1 }) else { return self }
        var ordered: [Int64] = []
        for key in sorted() where ordered.last != key { ordered.append(key) }
        return ordered
    }
}
