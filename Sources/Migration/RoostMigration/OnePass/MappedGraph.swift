internal import Foundation
internal import RoostCore
internal import RoostQuery

/// The objects that a mapping creates in one pass, as a graph that creates them for each read.
///
/// Derived attributes have provisional values. Use a graph on one thread only.
final class MappedGraph: ObjectGraph {
    private static let memoryByteCount = 8 << 20

    private let plan: MappingPlan
    private let snapshot: any StoreSnapshot
    private let options: ConversionOptions
    private let transforms: [RecordTransform]
    /// The destinations of the given to-many relationships; nil without relationships.
    private let members: AssociationTable?
    /// The position of each relationship in ``members``, by relationship number.
    private let positions: [Int: Int]
    private var found: [AssociationTable.Object] = []

    /// Prepares a graph, and reads the destinations of the given to-many relationships.
    ///
    /// `plan` must have no obstacles. `transforms` are in the order of its entity plans.
    init(
        of content: MappedContent, plan: MappingPlan, transforms: [RecordTransform],
        snapshot: any StoreSnapshot, options: ConversionOptions,
        relationships: [ManagedObjectModel.Relationship], directories: [String]
    ) throws(StoreError) {
        self.plan = plan
        self.transforms = transforms
        self.snapshot = snapshot
        self.options = options
        positions = Dictionary(
            relationships.enumerated().map { ($1.number, $0) }, uniquingKeysWith: { first, _ in first })
        guard !relationships.isEmpty else {
            members = nil
            return
        }
        let model = plan.destination
        let table = AssociationTable(
            mappingCount: relationships.count, from: model, to: model, memoryByteCount: MappedGraph.memoryByteCount,
            directories: directories)
        try content.readInBackground { (channel) throws(StoreError) in
            while let message = channel.receive() {
                switch message {
                case .begin: continue
                case .records(let batch):
                    try MappedGraph.add(batch, of: relationships, model: model, to: table)
                    channel.recycle(batch)
                case .links(let batch):
                    try MappedGraph.add(batch, of: relationships, model: model, to: table)
                    channel.recycle(batch)
                case .end: return
                }
            }
        }
        members = table
    }

    private static func add(
        _ batch: RecordBatch, of relationships: [ManagedObjectModel.Relationship], model: ManagedObjectModel,
        to table: AssociationTable
    ) throws(StoreError) {
        for (position, relationship) in relationships.enumerated() {
            guard case .derived(let number) = relationship.storage else { continue }
            let inverse = model.relationships[number]
            let roots = (model.entities[relationship.source].root, model.entities[relationship.destination].root)
            try batch.forEachRecord { (record) throws(StoreError) in
                guard model.entities[inverse.source].includes(record.entityNumber),
                    let field = record.layout.field(inverse.name.name), let (_, owner) = record.reference(field)
                else { return }
                try table.associate(
                    .init(entity: roots.0, key: owner), with: .init(entity: roots.1, key: record.key), in: position)
            }
        }
    }

    private static func add(
        _ batch: LinkBatch, of relationships: [ManagedObjectModel.Relationship], model: ManagedObjectModel,
        to table: AssociationTable
    ) throws(StoreError) {
        for (position, relationship) in relationships.enumerated() {
            guard case .links(let owner, let isFlipped) = relationship.storage, owner == batch.relationship else {
                continue
            }
            let roots = (model.entities[relationship.source].root, model.entities[relationship.destination].root)
            for link in batch.links {
                let (from, to) = isFlipped ? (link.target, link.source) : (link.source, link.target)
                try table.associate(
                    .init(entity: roots.0, key: from), with: .init(entity: roots.1, key: to), in: position)
                // A pair of a relationship that is its own inverse is stored once.
                guard relationship.isReflexive, from != to else { continue }
                try table.associate(
                    .init(entity: roots.0, key: to), with: .init(entity: roots.1, key: from), in: position)
            }
        }
    }

    func read(_ keys: [Int64], inHierarchyOf root: Int, into batch: inout RecordBatch) throws(StoreError) {
        batch.removeAll()
        guard let hierarchy = plan.hierarchies.first(where: { $0.destination == root }),
            let entity = hierarchy.source
        else { return }
        let name = plan.source.entities[plan.source.entities[entity].root].name
        let cursor = try snapshot.records(with: keys.map { ObjectID(name, key: $0) })
        var records = RecordBatch(model: snapshot.model)
        while try cursor.next(into: &records, options: options) {
            try records.forEachRecord { (record) throws(StoreError) in
                guard let number = hierarchy.entityPlans[record.entityNumber] else { return }
                try transforms[number].append(record, to: &batch)
            }
        }
    }

    func appendDestinations(
        of relationship: ManagedObjectModel.Relationship, from key: Int64, to keys: inout [Int64]
    ) throws(StoreError) {
        guard let members, let position = positions[relationship.number] else {
            throw StoreError(
                .internalInconsistency, "The objects of '\(relationship.name)' were not read for a dry run.")
        }
        found.removeAll(keepingCapacity: true)
        let owner = AssociationTable.Object(entity: plan.destination.entities[relationship.source].root, key: key)
        try members.appendDestinations(of: owner, in: position, to: &found)
        keys += found.map(\.key)
    }
}

/// A graph that adds one step of derived values to the objects of another graph.
private final class DerivedGraph: ObjectGraph {
    private let base: any ObjectGraph
    private let evaluation: DerivedEvaluation
    private let model: ManagedObjectModel

    init(_ base: any ObjectGraph, evaluation: DerivedEvaluation, model: ManagedObjectModel) {
        (self.base, self.evaluation, self.model) = (base, evaluation, model)
    }

    func read(_ keys: [Int64], inHierarchyOf root: Int, into batch: inout RecordBatch) throws(StoreError) {
        var records = RecordBatch(model: model)
        try base.read(keys, inHierarchyOf: root, into: &records)
        batch.removeAll()
        try evaluation.append(records, to: &batch)
    }

    func appendDestinations(
        of relationship: ManagedObjectModel.Relationship, from key: Int64, to keys: inout [Int64]
    ) throws(StoreError) {
        try base.appendDestinations(of: relationship, from: key, to: &keys)
    }
}

/// A computation of the derived attributes of objects that are not written.
///
/// The values equal those of ``DerivedValues``. Attributes in a dependency cycle, and attributes
/// that depend on them, are not computed. Use it on one thread only.
struct DerivedRehearsal {
    private let model: ManagedObjectModel
    /// The names of the computed attributes, by entity number.
    private let names: [Set<String>]
    /// The computations of the steps; each uses the values of the previous ones.
    private var evaluations: [DerivedEvaluation] = []

    /// Prepares the computation of a model's derived attributes.
    ///
    /// If `graph` is nil, only attributes that read no other object are computed.
    init(_ derived: DerivedAttributes, of model: ManagedObjectModel, over graph: (any ObjectGraph)?) {
        self.model = model
        var steps = DerivedSteps(derived, of: model)
        if graph == nil { steps.removeAttributesReadingOtherObjects() }
        names = model.entities.indices.map { number in Set(steps.steps.flatMap { $0[number] }.map(\.field.name)) }
        let now = Date()
        var graph = graph
        for step in steps.steps {
            let evaluation = DerivedEvaluation(step, over: graph, now: now)
            evaluations.append(evaluation)
            graph = graph.map { DerivedGraph($0, evaluation: evaluation, model: model) as any ObjectGraph }
        }
    }

    /// Returns whether any derived attribute of an entity is computed.
    func includes(_ entity: Int) -> Bool { !names[entity].isEmpty }

    func includes(_ name: String, of entity: Int) -> Bool { names[entity].contains(name) }

    /// Adds the derived values to the records of a batch.
    func complete(_ records: inout RecordBatch) throws(StoreError) {
        for evaluation in evaluations {
            var result = RecordBatch(model: model)
            try evaluation.append(records, to: &result)
            records = result
        }
    }
}
