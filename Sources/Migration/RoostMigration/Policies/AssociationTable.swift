internal import RoostCore

/// The associations between source and destination objects, by entity mapping, with lookup in both
/// directions.
///
/// Associations are many-to-many. A run of consecutive keys takes the space of one association.
/// Associations above the memory limit go to an unnamed temporary file.
final class AssociationTable {
    struct Object: Hashable {
        var entity: Int
        var key: Int64
    }

    /// The associations of one entity mapping in one direction.
    fileprivate struct Side {
        /// The indexes by root entity number.
        var indexes: [Int: AssociationIndex] = [:]

        func append(_ object: Object, roots: [Int], to found: inout [Object]) throws(StoreError) {
            guard let index = indexes[roots[object.entity]] else { return }
            try index.append(othersOf: object.key, to: &found)
        }
    }

    fileprivate struct Mapping {
        var bySource = Side()
        var byDestination = Side()
        var count = 0
        /// Whether it is certain that no object is in two associations, and that all objects on
        /// each side are of one entity.
        ///
        /// False if the keys on a side do not ascend.
        var isInjective = true
        /// Whether ``isInjective`` is true, and each source object has the key of its destination
        /// object.
        var keepsKeys = true
        var last: (source: Object, destination: Object)?
    }

    private let sourceRoots: [Int]
    private let destinationRoots: [Int]
    private let runLimit: Int
    private let directories: [String]
    private var mappings: [Mapping]
    private var runCount = 0
    private var file: SpillPages?

    /// Creates an empty table.
    ///
    /// `directories` are in order of preference.
    init(
        mappingCount: Int, from source: ManagedObjectModel, to destination: ManagedObjectModel,
        memoryByteCount: Int, directories: [String]
    ) {
        sourceRoots = source.entities.map(\.root)
        destinationRoots = destination.entities.map(\.root)
        runLimit = max(16, memoryByteCount / MemoryLayout<AssociationRun>.stride)
        self.directories = directories
        mappings = Array(repeating: Mapping(), count: mappingCount)
    }

    var hasSpilled: Bool { file != nil }
    /// The size of the file, and the total number of bytes written to it.
    var spilledBytes: (file: Int, written: Int) {
        (file?.byteCount ?? 0, (file?.writtenCount ?? 0) * SpillPages.pageByteCount)
    }

    func count(in mapping: Int) -> Int { mappings[mapping].count }

    func isInjective(in mapping: Int) -> Bool { mappings[mapping].isInjective }

    /// Returns whether each source object of a mapping certainly becomes the object of `entity`
    /// with the same key.
    func keepsKeys(in mapping: Int, for entity: Int) -> Bool {
        mappings[mapping].keepsKeys && mappings[mapping].last.map { $0.destination.entity == entity } ?? true
    }

    func associate(_ source: Object, with destination: Object, in mapping: Int) throws(StoreError) {
        let forward = AssociationRun(
            key: source.key, otherKey: destination.key, count: 1, entity: UInt16(truncatingIfNeeded: source.entity),
            otherEntity: UInt16(truncatingIfNeeded: destination.entity))
        let backward = AssociationRun(
            key: destination.key, otherKey: source.key, count: 1, entity: forward.otherEntity,
            otherEntity: forward.entity)
        mappings[mapping].note(source, destination: destination)
        runCount += try mappings[mapping].bySource.indexes[
            sourceRoots[source.entity], default: AssociationIndex()
        ].add(forward)
        runCount += try mappings[mapping].byDestination.indexes[
            destinationRoots[destination.entity], default: AssociationIndex()
        ].add(backward)
        if runCount > runLimit { try spill() }
    }

    /// Appends the objects that a mapping created from a source object.
    func appendDestinations(of source: Object, in mapping: Int, to found: inout [Object]) throws(StoreError) {
        try mappings[mapping].bySource.append(source, roots: sourceRoots, to: &found)
    }

    /// Appends the source objects from which a mapping created a destination object.
    func appendSources(of destination: Object, in mapping: Int, to found: inout [Object]) throws(StoreError) {
        try mappings[mapping].byDestination.append(destination, roots: destinationRoots, to: &found)
    }

    func destinationCount(in mapping: Int) throws(StoreError) -> Int {
        if isInjective(in: mapping) { return count(in: mapping) }
        let all = try destinations(in: mapping)
        var count = 0
        while try all.next() != nil { count += 1 }
        return count
    }

    /// Returns the current destination objects of a mapping; later associations add none.
    func destinations(in mapping: Int) throws(StoreError) -> AssociatedObjects {
        try AssociatedObjects(mappings[mapping].byDestination.indexes)
    }

    /// Returns the current source objects of a mapping; later associations add none.
    func sources(in mapping: Int) throws(StoreError) -> AssociatedObjects {
        try AssociatedObjects(mappings[mapping].bySource.indexes)
    }

    /// Moves the larger indexes to the file, and with them at least half of the runs in memory.
    private func spill() throws(StoreError) {
        let file: SpillPages
        if let known = self.file { file = known } else { file = try SpillPages(inOneOf: directories) }
        self.file = file
        // The indexes that stay in memory have at most `runLimit / 2` runs together.
        let indexCount = mappings.reduce(0) { $0 + $1.bySource.indexes.count + $1.byDestination.indexes.count }
        let threshold = runLimit / max(1, 2 * indexCount)
        for mapping in mappings.indices {
            for root in mappings[mapping].bySource.indexes.keys.sorted() {
                try spill(&mappings[mapping].bySource.indexes[root], to: file, above: threshold)
            }
            for root in mappings[mapping].byDestination.indexes.keys.sorted() {
                try spill(&mappings[mapping].byDestination.indexes[root], to: file, above: threshold)
            }
        }
    }

    private func spill(
        _ index: inout AssociationIndex?, to file: SpillPages, above threshold: Int
    ) throws(StoreError) {
        guard let count = index?.runCount, count > threshold else { return }
        try index?.spill(to: file)
        runCount -= count
    }
}

extension AssociationTable.Mapping {
    fileprivate mutating func note(_ source: AssociationTable.Object, destination: AssociationTable.Object) {
        count += 1
        if let last, isInjective {
            isInjective =
                source.key > last.source.key && destination.key > last.destination.key
                && source.entity == last.source.entity && destination.entity == last.destination.entity
        }
        keepsKeys = keepsKeys && isInjective && source.key == destination.key
        last = (source, destination)
    }
}

/// The distinct objects on one side of a mapping, ordered by hierarchy and key.
final class AssociatedObjects {
    private var merges: [RunMerge]
    private var run: AssociationRun?
    private var lastKey: Int64?

    fileprivate init(_ indexes: [Int: AssociationIndex]) throws(StoreError) {
        merges = []
        for (_, index) in indexes.sorted(by: { $0.key > $1.key }) { merges.append(try index.all()) }
    }

    func next() throws(StoreError) -> AssociationTable.Object? {
        while true {
            if let current = run {
                run = current.count > 1 ? current.suffix(from: current.key + 1) : nil
                guard current.key != lastKey else { continue }
                lastKey = current.key
                return AssociationTable.Object(entity: Int(current.entity), key: current.key)
            }
            guard !merges.isEmpty else { return nil }
            run = try merges[merges.count - 1].next()
            guard run == nil else { continue }
            merges.removeLast()
            lastKey = nil
        }
    }
}
