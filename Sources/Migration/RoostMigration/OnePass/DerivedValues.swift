internal import Foundation
internal import RoostCore
internal import RoostQuery

/// A computation of the derived attributes of a new store.
///
/// The values depend on other new objects, so they are computed after all content is written. Only
/// objects whose values change are written again. Memory is bounded by a few batches of objects.
struct DerivedValues {
    /// A part of a hierarchy, with the objects whose derived values change.
    private struct Part {
        var updates: RecordBatch
        /// The tally of the objects' old records.
        var replaced: StoreTally
        /// The last object that was read, or nil at the end of the hierarchy.
        var last: ObjectID?
    }

    /// The maximum length of a chain of objects in which derived attributes depend on each other.
    private static let mostRounds = 1_000

    private let store: any PersistentStore
    private let steps: DerivedSteps
    private let destinationWriter: DestinationWriter
    /// The value of `now()` for objects whose mapping provided no time.
    private let now = Date()

    private var model: ManagedObjectModel { store.model }
    private var cancellation: ConversionCancellation? { destinationWriter.options.cancellation }

    init(in store: any PersistentStore, by destinationWriter: DestinationWriter) throws(StoreError) {
        self.store = store
        self.destinationWriter = destinationWriter
        steps = DerivedSteps(try DerivedAttributes(store.model), of: store.model)
    }

    /// Writes the derived attributes of all objects, and updates the expected content.
    func write(updating copied: inout CopiedContent) throws(StoreError) {
        // A step begins when all values that it reads are correct. Otherwise, temporary values could break a uniqueness
        // constraint.
        for step in steps.steps { _ = try write(step, updating: &copied) }
        // In each round, values advance by one object along the chains of objects.
        let limit = steps.circular.joined().count + Self.mostRounds
        var roundCount = 0
        while try write(steps.circular, updating: &copied) {
            roundCount += 1
            guard roundCount <= limit else {
                throw StoreError(
                    .invalidModel,
                    "Derived attributes of the new model depend on each other in a circle, or over a chain of more than \(Self.mostRounds) objects. Change their expressions."
                )
            }
        }
    }

    /// Writes the objects whose values of the given attributes change, and returns whether any do.
    ///
    /// `attributes` has the attributes by entity number.
    private func write(
        _ attributes: [[DerivedAttributes.Attribute]], updating copied: inout CopiedContent
    ) throws(StoreError) -> Bool {
        var isChanged = false
        for root in model.roots.map({ model.entities[$0] })
        where root.selfAndSubentities.contains(where: { !attributes[$0].isEmpty }) {
            if try write(attributes, of: root, updating: &copied) { isChanged = true }
        }
        return isChanged
    }

    private func write(
        _ attributes: [[DerivedAttributes.Attribute]], of root: ManagedObjectModel.Entity,
        updating copied: inout CopiedContent
    ) throws(StoreError) -> Bool {
        var last: ObjectID?
        var isChanged = false
        repeat {
            let part = try part(of: root, attributes: attributes, after: last)
            last = part.last
            let digest = copied.tally.digest
            destinationWriter.report(
                .finishing, current: root.name.text, objects: digest.objectCount, links: digest.linkCount,
                totalObjects: digest.objectCount, totalLinks: digest.linkCount)
            guard !part.updates.isEmpty else { continue }
            isChanged = true
            try cancellation?.check()
            var changes = ChangeSet(model: model)
            changes.updates = part.updates
            _ = try store.commit(changes)
            copied.isFlushed = false
            // The tally gets the new values, so that verification compares the store with them.
            for (number, replaced) in part.replaced.entities.enumerated() {
                copied.tally.entities[number].count -= replaced.count
                copied.tally.entities[number].sum &-= replaced.sum
            }
            copied.tally.add(part.updates)
        } while last != nil
        return isChanged
    }

    /// Reads objects until a commit has enough updates, or until the end of the hierarchy.
    private func part(
        of root: ManagedObjectModel.Entity, attributes: [[DerivedAttributes.Attribute]], after last: ObjectID?
    ) throws(StoreError) -> Part {
        // The snapshot must end before the commit, because some stores allow only one transaction at a time.
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        let evaluation = DerivedEvaluation(attributes, over: snapshot.objectGraph(), now: now)
        var part = Part(updates: RecordBatch(model: model), replaced: StoreTally(model: model))
        let cursor = try snapshot.records(of: root.name, after: last)
        var records = RecordBatch(model: model)
        while try cursor.next(into: &records) {
            try cancellation?.check()
            for index in 0..<records.count {
                try records.withRecord(at: index) { (record) throws(StoreError) in
                    let values = try evaluation.values(of: record)
                    guard !values.isEmpty else { return }
                    part.replaced.entities[record.entityNumber].add(record.computedContentHash)
                    try part.updates.append(record, replacing: values)
                }
            }
            if Self.isFull(part.updates) {
                part.last = ObjectID(root.name, key: records.key(at: records.count - 1))
                return part
            }
        }
        return part
    }

    private static func isFull(_ updates: RecordBatch) -> Bool {
        updates.count >= 8 * RecordBatch.capacityCount || updates.byteCount >= 8 * RecordBatch.capacityBytes
    }
}

extension ManagedObjectModel.Entity {
    /// Returns whether a migration computes an attribute from the new objects, and ignores its
    /// mapping.
    ///
    /// An attribute that is derived by `now()` is not computed: it gets its mapped value.
    func computes(_ name: String) -> Bool {
        guard let attribute = attribute(name), attribute.isStored, let text = attribute.derivationExpression else {
            return false
        }
        return DerivationExpression(text) != .now
    }
}
