internal import RoostCore
internal import RoostStores

/// A reader of the rows that are needed to resolve the conflicts of a save.
///
/// All rows are read before the first change, so that a read error changes nothing. These are the
/// rows of:
///
/// - the objects with conflicts,
/// - their one-to-one partners, before and after the resolution,
/// - the partners of these partners, whose references can become null.
///
/// If one of these objects has pending changes, merging its row also needs the rows of its
/// partners, and so on.
struct ResolutionReader {
    /// A set of objects to find, by entity and by distance from a changed object.
    private struct Wanted: Hashable {
        let entity: Int
        /// The number of one-to-one references between a changed object and these objects, or nil
        /// for objects whose rows are not needed.
        let distance: Int?
    }

    private let core: GraphCore
    private var wanted: [Wanted: [Int64]] = [:]
    /// The objects found so far, with their distances.
    private var distances: [ManagedObject: Int] = [:]
    /// The found objects that are not read yet.
    private var open: [ManagedObject] = []
    /// The found objects whose entities are needed, but not their rows.
    private var named: [ManagedObject] = []
    private var rows = CurrentRows()

    init(_ core: GraphCore) { self.core = core }

    /// Adds an object whose changes are resolved, or an object at a distance from such an object.
    ///
    /// An object with pending changes always has the distance 0.
    mutating func add(_ object: ManagedObject, distance: Int = 0) {
        let distance = object.state.contains(.privateRow) ? 0 : distance
        guard distance < distances[object] ?? .max else { return }
        distances[object] = distance
        open.append(object)
    }

    /// Adds an object with a conflict, and its merged values, if any.
    mutating func add(_ object: ManagedObject, conflict: ObjectConflict, values: [String: Value] = [:]) {
        add(object)
        add(values, of: object)
        guard let theirs = conflict.current else { return }
        for reference in theirs.withReader({ Self.references(of: $0) }) { want(reference, distance: 0) }
    }

    /// Adds the destinations to which new values of an object refer.
    mutating func add(_ values: [String: Value], of object: ManagedObject) {
        for field in object.info.referenceFields {
            guard case .objectID(let id)? = values[field.name], let entity = core.model.entity(id.entity)
            else { continue }
            want((field, entity.number, id.key), distance: 0)
        }
    }

    /// Reads all rows, and returns the found objects and the current rows of objects with partners.
    ///
    /// The caller must keep the objects alive during the resolution.
    mutating func read() throws(StoreError) -> (objects: [ManagedObject], rows: CurrentRows) {
        repeat {
            let searched = wanted
            wanted = [:]
            for (place, keys) in searched {
                let found = try core.objects(keys, destination: place.entity)
                guard let distance = place.distance else {
                    named += found
                    continue
                }
                for object in found { add(object, distance: distance) }
            }
            let objects = open
            open = []
            try read(objects)
            for object in objects { wantDestinations(of: object) }
        } while !open.isEmpty || !wanted.isEmpty
        return (Array(distances.keys) + named, rows)
    }

    private mutating func read(_ objects: [ManagedObject]) throws(StoreError) {
        for (root, group) in Dictionary(grouping: objects, by: \.root) {
            let faults = group.filter { $0.row == nil }.map(\.key)
            if !faults.isEmpty { try core.read(faults, root: root) }
            var keys: [Int64] = []
            for object in group where hasPartners(object) && (object.key > 0 || core.parent != nil) {
                if !rows.contains(ObjectPlace(root: root, key: object.key)) { keys.append(object.key) }
            }
            guard !keys.isEmpty else { continue }
            var batch = RecordBatch(model: core.model)
            try core.openReader().graph(ofEntity: root).read(keys, inHierarchyOf: root, into: &batch)
            rows.add(batch, of: keys, root: root)
        }
    }

    private func hasPartners(_ object: ManagedObject) -> Bool {
        object.info.referenceFields.contains { core.oneToOneInverse($0) != nil }
    }

    // MARK: Destinations

    private typealias Reference = (field: RecordLayout.Field, entity: Int, key: Int64)

    private static func references(of record: RecordReader) -> [Reference] {
        record.layout.fields.compactMap { field in
            guard field.relationship != nil, let (entity, key) = record.reference(field) else { return nil }
            return (field, entity, key)
        }
    }

    private mutating func wantDestinations(of object: ManagedObject) {
        guard let distance = distances[object], distance < 2 else { return }
        for field in object.info.referenceFields {
            for row in [object.row, object.committedRow] {
                guard let row, let (entity, key) = RowAccess.reference(row, field: field) else { continue }
                want((field, entity, key), distance: distance)
            }
        }
        let place = ObjectPlace(root: object.root, key: object.key)
        for reference in rows.withRow(at: place, { Self.references(of: $0) }) ?? [] {
            want(reference, distance: distance)
        }
    }

    /// Adds the destination of a reference from an object at the given distance.
    private mutating func want(_ reference: Reference, distance: Int) {
        let isPair = core.oneToOneInverse(reference.field) != nil
        // Setting a reference that is not one-to-one needs only the destination's entity.
        guard isPair || distance == 0 && core.isPolymorphic(reference.entity) else { return }
        wanted[Wanted(entity: reference.entity, distance: isPair ? distance + 1 : nil), default: []]
            .append(reference.key)
    }
}

/// Rows of the store that were read to resolve conflicts.
struct CurrentRows {
    private var batches: [RecordBatch] = []
    private var positions: [ObjectPlace: (batch: Int, index: Int)] = [:]
    private var missing: Set<ObjectPlace> = []

    /// Adds the rows that were found for keys of one hierarchy, and records keys without a row.
    mutating func add(_ batch: RecordBatch, of keys: [Int64], root: Int) {
        for key in keys { missing.insert(ObjectPlace(root: root, key: key)) }
        for index in 0..<batch.count {
            let place = ObjectPlace(root: root, key: batch.key(at: index))
            missing.remove(place)
            positions[place] = (batches.count, index)
        }
        batches.append(batch)
    }

    func contains(_ place: ObjectPlace) -> Bool { positions[place] != nil || missing.contains(place) }

    func withRow<Result>(at place: ObjectPlace, _ body: (RecordReader) -> Result) -> Result? {
        positions[place].map { position in batches[position.batch].withRecord(at: position.index, body) }
    }

    /// Appends the rows with the given keys, or returns false if a key was not read.
    func append(_ keys: [Int64], root: Int, to batch: inout RecordBatch) -> Bool {
        let places = keys.map { ObjectPlace(root: root, key: $0) }
        guard places.allSatisfy(contains) else { return false }
        for place in places {
            if let position = positions[place] { batch.append(batches[position.batch], at: position.index) }
        }
        return true
    }
}
