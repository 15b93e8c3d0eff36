internal import Foundation
internal import RoostCore
internal import RoostQuery

/// A counter of a snapshot's data that a mapping model drops.
///
/// The models show possible losses, and the objects show actual losses. If the models show no loss,
/// no data is read. Otherwise each affected entity is read once for all its counts. If references
/// to some objects are lost, the keys of these objects are collected in memory.
struct LossCounter {
    /// The references to count, selected by their targets.
    fileprivate enum Targets {
        case all
        /// The keys of the targets, regardless of their entities.
        case keys([KeySet])
        /// The keys of the targets, by entity number; nil means all objects of the entity.
        case objects([Int: KeySet?])
    }

    /// A way to compute the number that one object adds to a count.
    private enum Measure {
        case value(RecordLayout.Field)
        case digits(RecordLayout.Field, AttributeType)
        case reference(RecordLayout.Field, Targets)
        case destinations(ManagedObjectModel.Relationship, Targets)
        case furtherDestinations(ManagedObjectModel.Relationship)
        case order(ManagedObjectModel.Relationship)
        case direction(ManagedObjectModel.Relationship, RecordLayout.Field?)
    }

    private struct Count {
        let loss: MappingLoss
        let matcher: RecordMatcher?
        let measure: Measure
        var number = 0
    }

    private let snapshot: any StoreSnapshot
    private let options: ConversionOptions
    private let graph: any ObjectGraph
    private var keySets: [MappingLoss.Objects: KeySet] = [:]
    private var model: ManagedObjectModel { snapshot.model }

    private init(_ snapshot: any StoreSnapshot, options: ConversionOptions) {
        self.snapshot = snapshot
        self.options = options
        graph = snapshot.objectGraph()
    }

    /// Counts the losses of a migration.
    ///
    /// The result begins with the losses of whole objects, and omits losses that affect no object.
    static func losses(
        of mapping: MappingModel, snapshot: any StoreSnapshot, to destination: ManagedObjectModel,
        options: ConversionOptions
    ) throws(StoreError) -> [MigrationLoss] {
        let remarks = mapping.remarks(from: snapshot.model, to: destination).filter { !$0.losses.isEmpty }
        guard !remarks.isEmpty else { return [] }
        var counter = LossCounter(snapshot, options: options)
        let counts = try counter.count(remarks.flatMap(\.losses))
        let losses: [MigrationLoss] = remarks.compactMap { remark in
            let count = remark.losses.reduce(0) { $0 + (counts[$1] ?? 0) }
            guard count > 0, let kind = remark.losses.first?.kind.published else { return nil }
            return MigrationLoss(
                entity: remark.entity, property: remark.property, kind: kind, count: count,
                message: remark.message
            ).with { $0.mappings = remark.losses.filter { counts[$0] ?? 0 > 0 }.flatMap(\.mappings).uniqued() }
        }
        return losses.filter { $0.kind == .objects } + losses.filter { $0.kind != .objects }
    }

    private mutating func count(_ losses: [MappingLoss]) throws(StoreError) -> [MappingLoss: Int] {
        var found: [MappingLoss: Int] = [:]
        var open: [EntityName: [Count]] = [:]
        var order: [EntityName] = []
        for loss in losses where found[loss] == nil {
            found[loss] = 0
            if loss.kind == .objects {
                found[loss] = try count(loss.objects)
            } else if let measure = try measure(loss) {
                let name = loss.objects.entity
                if open[name] == nil { order.append(name) }
                open[name, default: []].append(Count(loss: loss, matcher: try matcher(loss.objects), measure: measure))
            }
        }
        for name in order {
            for count in try count(open[name] ?? [], entity: name) { found[count.loss] = count.number }
        }
        return found
    }

    // MARK: Measures

    private func count(_ objects: MappingLoss.Objects) throws(StoreError) -> Int {
        try snapshot.count(
            FetchRequest(objects.entity, where: objects.predicate).with { $0.includesSubentities = false })
    }

    private func matcher(_ objects: MappingLoss.Objects) throws(StoreError) -> RecordMatcher? {
        guard let predicate = objects.predicate else { return nil }
        let request = FetchRequest(objects.entity, where: predicate).with { $0.includesSubentities = false }
        return try RecordFilter(request, model: model).matcher(over: graph)
    }

    /// Returns the measure, or nil for whole objects and for references without existing targets.
    private mutating func measure(_ loss: MappingLoss) throws(StoreError) -> Measure? {
        let entity = try model.requireEntity(loss.objects.entity)
        func relationship(_ name: String) throws(StoreError) -> ManagedObjectModel.Relationship {
            guard let relationship = entity.relationship(name) else {
                throw StoreError(.unknownProperty, "Entity '\(entity.name)' has no relationship '\(name)'.")
            }
            return relationship
        }
        switch loss.kind {
        case .objects: return nil
        case .values(let path): return .value(try entity.layout.requireField(path))
        case .digits(let path, let type): return .digits(try entity.layout.requireField(path), type)
        case .references(let name, let objects):
            let relationship = try relationship(name)
            guard relationship.storage == .field else {
                guard let targets = try targets(objects, byKey: true) else { return nil }
                return .destinations(relationship, targets)
            }
            guard let targets = try targets(objects, byKey: false) else { return nil }
            return .reference(try entity.layout.requireField(name), targets)
        case .furtherReferences(let name): return .furtherDestinations(try relationship(name))
        case .order(let name): return .order(try relationship(name))
        case .direction(let name):
            return .direction(try relationship(name), entity.layout.field(name))
        case .ids(let name, let objects):
            guard let targets = try targets(objects, byKey: false) else { return nil }
            return .reference(try entity.layout.requireField(name), targets)
        }
    }

    /// Returns the references to count, or nil if none of their possible targets exists.
    private mutating func targets(
        _ objects: [MappingLoss.Objects]?, byKey: Bool
    ) throws(StoreError) -> Targets? {
        guard let objects else { return .all }
        var sets: [KeySet] = []
        var byEntity: [Int: KeySet?] = [:]
        for objects in objects where try count(objects) > 0 {
            let needsKeys = byKey || objects.predicate != nil
            let keys: KeySet? = needsKeys ? try self.keys(of: objects) : nil
            if let keys { sets.append(keys) }
            byEntity[try model.requireEntity(objects.entity).number] = .some(keys)
        }
        guard !byEntity.isEmpty else { return nil }
        return byKey ? .keys(sets) : .objects(byEntity)
    }

    private mutating func keys(of objects: MappingLoss.Objects) throws(StoreError) -> KeySet {
        if let known = keySets[objects] { return known }
        let (number, matcher) = (try model.requireEntity(objects.entity).number, try matcher(objects))
        var keys = KeySet()
        let cursor = try snapshot.records(of: objects.entity, after: nil)
        try forEachBatch(cursor) { (batch) throws(StoreError) in
            try batch.forEachRecord { (record) throws(StoreError) in
                guard record.entityNumber == number, try matcher?.matches(record) ?? true else { return }
                keys.append(record.key)
            }
        }
        keySets[objects] = keys
        return keys
    }

    private func forEachBatch(
        _ cursor: any RecordCursor, _ body: (RecordBatch) throws(StoreError) -> Void
    ) throws(StoreError) {
        var batch = RecordBatch(model: model)
        while try cursor.next(into: &batch, options: options) { try body(batch) }
    }

    // MARK: Counting

    private func count(_ open: [Count], entity: EntityName) throws(StoreError) -> [Count] {
        var counts = open
        let cursor = try snapshot.fetch(FetchRequest(entity).with { $0.includesSubentities = false })
        try forEachBatch(cursor) { (batch) throws(StoreError) in
            for index in counts.indices {
                let (measure, matcher) = (counts[index].measure, counts[index].matcher)
                var number = 0
                // The keys to look up in the store after the batch has been processed.
                var asked: [Int64] = []
                try batch.forEachRecord { (record) throws(StoreError) in
                    guard try matcher?.matches(record) ?? true else { return }
                    switch measure {
                    case .value(let field): number += record.isNull(field) ? 0 : 1
                    case .digits(let field, let type):
                        number += Self.losesDigits(record.value(field), type: type) ? 1 : 0
                    case .reference(let field, let targets):
                        if let (entity, key) = record.reference(field), targets.contains(entity, key: key) {
                            number += 1
                        }
                    case .destinations, .furtherDestinations, .order, .direction: asked.append(record.key)
                    }
                }
                if !asked.isEmpty { number += try count(measure, keys: asked) }
                counts[index].number += number
            }
        }
        return counts
    }

    /// Returns the number that the destinations of objects with the given keys add to a count.
    private func count(_ measure: Measure, keys: [Int64]) throws(StoreError) -> Int {
        var number = 0
        var destinations: [Int64] = []
        for key in keys {
            destinations.removeAll(keepingCapacity: true)
            switch measure {
            case .value, .digits, .reference: return 0
            case .destinations(let relationship, let targets):
                try graph.appendDestinations(of: relationship, from: key, to: &destinations)
                number += destinations.count { targets.contains(key: $0) }
            case .furtherDestinations(let relationship):
                try graph.appendDestinations(of: relationship, from: key, to: &destinations)
                number += max(0, destinations.count - 1)
            case .order(let relationship):
                try graph.appendDestinations(of: relationship, from: key, to: &destinations)
                number += destinations.count > 1 ? 1 : 0
            case .direction(let relationship, let field):
                try appendDestinations(of: relationship, field: field, from: key, to: &destinations)
                for target in destinations where target != key {
                    var back: [Int64] = []
                    try appendDestinations(of: relationship, field: field, from: target, to: &back)
                    if !back.contains(key) { number += 1 }
                }
            }
        }
        return number
    }

    /// Appends the keys of an object's destinations, for a relationship of any kind.
    private func appendDestinations(
        of relationship: ManagedObjectModel.Relationship, field: RecordLayout.Field?, from key: Int64,
        to keys: inout [Int64]
    ) throws(StoreError) {
        guard field != nil, relationship.storage == .field else {
            return try graph.appendDestinations(of: relationship, from: key, to: &keys)
        }
        var batch = RecordBatch(model: model)
        try graph.read([key], inHierarchyOf: model.entities[relationship.source].root, into: &batch)
        let model = model
        var found: Int64?
        batch.forEachRecord { record in
            // A subentity has the field at another offset.
            guard let field = model.entities[record.entityNumber].layout.field(relationship.name.name) else { return }
            found = record.reference(field)?.key
        }
        if let found { keys.append(found) }
    }

    private static func losesDigits(_ value: Value, type: AttributeType) -> Bool {
        switch value {
        case .double(let number): return type == .float && !number.isNaN && Double(Float(number)) != number
        case .decimal(let decimal):
            guard case .double(let double)? = value.converted(to: .double), !double.isNaN else { return false }
            let text = type == .float ? "\(Float(double))" : "\(double)"
            return DecimalNumber(utf8: text.utf8)?.decimal != decimal
        default: return false
        }
    }
}

extension LossCounter.Targets {
    func contains(_ entity: Int, key: Int64) -> Bool {
        switch self {
        case .all: return true
        case .keys(let sets): return sets.contains { $0.contains(key) }
        case .objects(let objects):
            guard let keys = objects[entity] else { return false }
            return keys?.contains(key) ?? true
        }
    }

    func contains(key: Int64) -> Bool {
        switch self {
        case .all: true
        case .keys(let sets): sets.contains { $0.contains(key) }
        case .objects(let objects): objects.values.contains { $0?.contains(key) ?? false }
        }
    }
}

extension MappingLoss.Kind {
    fileprivate var published: MigrationLoss.Kind {
        switch self {
        case .objects: .objects
        case .values, .digits: .values
        case .references, .furtherReferences, .direction, .ids: .references
        case .order: .order
        }
    }
}
