internal import RoostCore
internal import RoostStores

/// A step in merging another context's changes.
///
/// Merging a row also reads the rows of its one-to-one partners again, then of their partners, and
/// so on. A list of steps replaces recursion, which would overflow the stack on a long chain.
enum MergeStep {
    /// Reads the current rows of objects.
    ///
    /// `isReported` determines whether the result of ``GraphCore/reread(_:)`` includes the changed
    /// objects.
    case read([ManagedObject], isReported: Bool)
    case readHierarchy(Int, [ManagedObject], isReported: Bool)
    /// Merges the records of a batch, starting at a position.
    case take(RecordBatch, root: Int, from: Int, isReported: Bool)
    case noteMissing([ManagedObject], isReported: Bool)
    /// Makes both sides of an object's references consistent, starting at a position in the list of
    /// references.
    case settle(ManagedObject, Record?, former: [Int: ManagedObject], from: Int)
    /// Makes both sides of a one-to-one relationship consistent after their rows were read.
    case settlePair(ManagedObject, relationship: Int, partner: ManagedObject?, former: [ManagedObject])
    /// Makes an object the partner of another object.
    ///
    /// The row of `rival`, the former partner of `partner`, was already read.
    case takePartner(ManagedObject, relationship: Int, partner: ManagedObject, rival: ManagedObject?)
    /// Records that an object did not change in this event.
    case forgetTouch(ManagedObject)
}

extension GraphCore {
    /// Performs steps, and the steps that result from them, in depth-first order.
    ///
    /// For steps with `isReported`, returns the objects whose rows changed. Also returns objects
    /// without pending changes whose rows are missing.
    @discardableResult
    func perform(_ steps: [MergeStep]) throws(StoreError) -> [ManagedObject] {
        var changed: [ManagedObject] = []
        var open = Array(steps.reversed())
        while let step = open.popLast() { open += try perform(step, changed: &changed).reversed() }
        return changed
    }

    private func perform(
        _ step: MergeStep, changed: inout [ManagedObject]
    ) throws(StoreError) -> [MergeStep] {
        switch step {
        case .read(let objects, let isReported):
            return Dictionary(grouping: objects, by: \.root).map {
                .readHierarchy($0.key, $0.value, isReported: isReported)
            }
        case .readHierarchy(let root, let objects, let isReported):
            let keys = objects.filter { $0.row != nil && ($0.key > 0 || parent != nil) }.map(\.key)
            guard !keys.isEmpty else { return [] }
            var batch = RecordBatch(model: model)
            let isKnown = currentRows?.append(keys, root: root, to: &batch) ?? false
            if !isKnown { try openReader().graph(ofEntity: root).read(keys, inHierarchyOf: root, into: &batch) }
            let found = Set((0..<batch.count).map { batch.key(at: $0) })
            let missing = objects.filter { $0.row != nil && !found.contains($0.key) }
            return [
                .take(batch, root: root, from: 0, isReported: isReported),
                .noteMissing(missing, isReported: isReported),
            ]
        case .take(let batch, let root, let start, let isReported):
            for index in start..<batch.count {
                guard let object = registered(root, key: batch.key(at: index)) else { continue }
                let (isChanged, steps) = try take(batch.record(at: index), object: object)
                if isChanged, isReported { changed.append(object) }
                guard steps.isEmpty else {
                    return steps + [.take(batch, root: root, from: index + 1, isReported: isReported)]
                }
            }
            return []
        case .noteMissing(let objects, let isReported):
            for object in objects { forgetRemovals(of: object) }
            for object in objects where object.flags.contains(.changed) { noteDeletedElsewhere(object) }
            for object in objects
            where object.row != nil && object.flags.isDisjoint(with: [.changed, .inaccessible]) {
                object.flags.insert(.inaccessible)
                results?.suspect(object)
                observation?.noteAll(object)
                if isReported { changed.append(object) }
            }
            return []
        case .settle(let object, let theirs, let former, let start):
            return settleReferences(of: object, theirs: theirs, former: former, from: start)
        case .settlePair(let object, let relationship, let partner, let former):
            return settlePair(object, relationship: relationship, mine: partner, former: former)
        case .takePartner(let object, let relationship, let partner, let rival):
            if let rival { clear(rival, relationship: relationship, ifItIs: partner.key) }
            if let inverse = model.relationships[relationship].inverse {
                setReference(of: partner, relationship: inverse, to: object)
            }
            return []
        case .forgetTouch(let object):
            object.state.remove(.touched)
            return []
        }
    }

    /// Performs a `settle` step; `former` contains the one-to-one partners before the merge.
    private func settleReferences(
        of object: ManagedObject, theirs: Record?, former: [Int: ManagedObject], from start: Int
    ) -> [MergeStep] {
        guard start > 0 || object.flags.isDisjoint(with: [.orphan, .deleted, .inaccessible]) else { return [] }
        let fields = object.info.referenceFields
        for position in start..<fields.count {
            let field = fields[position]
            guard let relationship = field.relationship, let inverse = model.relationships[relationship].inverse
            else { continue }
            let mine = RowAccess.reference(object.firedRow, field: field).map { self.object($0.entity, key: $0.key) }
            let there = theirs?.withReader { $0.reference(field) }.map { self.object($0.entity, key: $0.key) }
            if oneToOneInverse(field) != nil {
                let others = [there, former[relationship]].compactMap { $0 }
                // Read the partners first, because the store may have changes of only one side.
                return [.read(others, isReported: false), .read(mine.map { [$0] } ?? [], isReported: false)] + [
                    .settlePair(object, relationship: relationship, partner: mine, former: others),
                    .settle(object, theirs, former: former, from: position + 1),
                ]
            }
            guard mine !== there else { continue }
            // In the store, the list of `there` contains the object, and the list of `mine` does not.
            let isOrdered = model.relationships[inverse].isOrdered
            if let there {
                forgetBases(of: there)
                change(there, relationship: inverse) { $0.remove(object.key, isOrdered: isOrdered) }
            }
            guard let mine else { continue }
            forgetBases(of: mine)
            change(mine, relationship: inverse) { $0.add(object.key, isOrdered: isOrdered) }
        }
        return []
    }

    /// Makes the partner's reference match the reference of `object`, after both rows were read.
    private func settlePair(
        _ object: ManagedObject, relationship: Int, mine: ManagedObject?, former: [ManagedObject]
    ) -> [MergeStep] {
        guard let inverse = model.relationships[relationship].inverse,
            let own = object.info.references[relationship]
        else { return [] }
        // Merging the rows may already have made the pair consistent.
        let current = RowAccess.reference(object.firedRow, field: own)?.key
        for partner in former where partner.key != current { clear(partner, relationship: inverse, ifItIs: object.key) }
        guard let mine, mine.key == current, let field = mine.info.references[inverse],
            mine.flags.isDisjoint(with: [.deleted, .inaccessible])
        else { return [] }
        let other = RowAccess.reference(mine.firedRow, field: field)
        guard other?.key != object.key else { return [] }
        let rival = other.map { self.object($0.entity, key: $0.key) }
        return [
            .read(rival.map { [$0] } ?? [], isReported: false),
            .takePartner(object, relationship: relationship, partner: mine, rival: rival),
        ]
    }
}
