internal import RoostCore
internal import RoostJSONText
internal import RoostText

/// The names and limits of the dump format, which DUMP-FORMAT.md describes.
enum DumpFormat {
    /// The value of `format` in the first line.
    static let name = "roost-dump"
    /// The version written, and the newest version read.
    static let version: Int64 = 1
    static let linksPerLine = 100
    /// The maximum size of a model or of a store's metadata, in bytes.
    static let headerByteCountLimit = 256 << 20

    static let headerKeys = JSONNameTable([
        "format", "formatVersion", "storeUUID", "entities", "lastKeys", "model", "metadata",
    ])
    static let lineKeys = JSONNameTable(["entity", "links", "end"])
    static let linksKeys = JSONNameTable(["pairs"])
    static let trailerKeys = JSONNameTable(["objects", "links", "digest", "checksum"])
}

/// The first line of a dump.
struct DumpHeader: Sendable {
    var storeUUID: StoreUUID
    var model: ManagedObjectModel
    var userMetadata: [String: MetadataValue]
    var lastKeys: [EntityName: Int64]
    var scope: DumpScope
}

/// The objects in a dump: all objects, or those of some entities.
struct DumpScope: Sendable {
    private enum Part: Sendable {
        case nothing
        case everything
        /// The objects with these keys, because a key does not show its object's entity.
        case some(KeyRuns)
    }

    let model: ManagedObjectModel
    /// Whether each entity is in the dump, by entity number.
    private let includes: [Bool]
    /// The dumped part of each hierarchy, by root entity.
    private var parts: [Part]

    /// Creates a scope of entities and all their subentities, or of the whole model for nil.
    init(_ model: ManagedObjectModel, entities: [ManagedObjectModel.Entity]?) {
        self.model = model
        var includes = Array(repeating: entities == nil, count: model.entities.count)
        for entity in entities ?? [] { for number in entity.selfAndSubentities { includes[number] = true } }
        self.includes = includes
        parts = model.entities.map { root in
            // Abstract entities have no objects.
            let concrete = root.selfAndSubentities.filter { !model.entities[$0].isAbstract }
            if concrete.allSatisfy({ includes[$0] }) { return .everything }
            return concrete.contains { includes[$0] } ? .some(KeyRuns()) : .nothing
        }
    }

    var isWhole: Bool { includes.allSatisfy { $0 } }

    var entityNames: [String] { model.entities.filter { includes[$0.number] }.map(\.name.text) }

    func includes(_ entity: Int) -> Bool { includes[entity] }

    func includesAny(ofHierarchyOf entity: Int) -> Bool {
        if case .nothing = parts[model.entities[entity].root] { return false }
        return true
    }

    /// Notes the keys of dumped objects, which are all in one hierarchy.
    mutating func note(_ records: RecordBatch) {
        guard !records.isEmpty else { return }
        let root = model.entities[records.entityNumber(at: 0)].root
        guard case .some(var keys) = parts[root] else { return }
        parts[root] = .nothing
        for index in 0..<records.count { keys.insert(records.key(at: index)) }
        parts[root] = .some(keys)
    }

    /// Returns whether an object is in the dump.
    ///
    /// All dumped objects of the hierarchy must be noted first.
    mutating func includes(key: Int64, inHierarchyOf entity: Int) -> Bool {
        let root = model.entities[entity].root
        switch parts[root] {
        case .nothing: return false
        case .everything: return true
        case .some(let keys) where keys.isSorted: return keys.contains(key)
        case .some(var keys):
            keys.sort()
            parts[root] = .some(keys)
            return keys.contains(key)
        }
    }
}

/// A set of keys stored as ranges.
struct KeyRuns: Sendable {
    private var runs: [ClosedRange<Int64>] = []
    private(set) var isSorted = true

    /// Adds a key; keys in ascending order need no sorting.
    mutating func insert(_ key: Int64) {
        guard let last = runs.last else {
            runs.append(key...key)
            return
        }
        if last.upperBound < key, key - 1 == last.upperBound {
            runs[runs.count - 1] = last.lowerBound...key
        } else {
            if key <= last.upperBound { isSorted = false }
            runs.append(key...key)
        }
    }

    mutating func sort() {
        runs.sort { $0.lowerBound < $1.lowerBound }
        isSorted = true
    }

    /// Searches the keys, which must be sorted.
    func contains(_ key: Int64) -> Bool {
        var (low, high) = (0, runs.count)
        while low < high {
            let middle = low + (high - low) / 2
            if runs[middle].upperBound < key { low = middle + 1 } else { high = middle }
        }
        return low < runs.count && runs[low].contains(key)
    }
}
