internal import RoostCore

// Loops over a list of objects without counting references. Counting costs two atomic operations
// for each object, and a save visits all changed objects several times.
//
// SAFETY of the whole file: an `UncountedList` is a value that is alive for the whole loop. So none
// of its objects is deallocated, even if `body` changes the context's own lists. The caller keeps
// the objects of an `UncountedObjects` alive. A class reference and an `Unmanaged` of it have the
// same representation.

protocol UncountedList {
    func withUnsafeBufferPointer<Result, Failure: Error>(
        _ body: (UnsafeBufferPointer<ManagedObject>) throws(Failure) -> Result
    ) throws(Failure) -> Result
}

extension Array: UncountedList where Element == ManagedObject {}
extension ContiguousArray: UncountedList where Element == ManagedObject {}

extension UncountedList {
    @inline(__always)
    func forEachUncounted(_ body: (ManagedObject) -> Void) {
        withUnsafeBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return }
            let objects = UnsafeRawPointer(base).assumingMemoryBound(to: Unmanaged<ManagedObject>.self)
            for index in 0..<buffer.count { objects[index]._withUnsafeGuaranteedRef(body) }
        }
    }

    /// Calls `body` for each object until `body` throws.
    @inline(__always)
    func forEachUncounted(_ body: (ManagedObject) throws(StoreError) -> Void) throws(StoreError) {
        var failure: StoreError?
        withUnsafeBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return }
            let objects = UnsafeRawPointer(base).assumingMemoryBound(to: Unmanaged<ManagedObject>.self)
            for index in 0..<buffer.count {
                objects[index]._withUnsafeGuaranteedRef { object in
                    do throws(StoreError) { try body(object) } catch { failure = error }
                }
                if failure != nil { return }
            }
        }
        if let failure { throw failure }
    }

    @inline(__always)
    func filterUncounted(_ isIncluded: (ManagedObject) -> Bool) -> [ManagedObject] {
        var result: [ManagedObject] = []
        forEachUncounted { if isIncluded($0) { result.append($0) } }
        return result
    }
}

/// A selection of objects that another list keeps alive.
struct UncountedObjects {
    private var objects: ContiguousArray<Unmanaged<ManagedObject>> = []

    var isEmpty: Bool { objects.isEmpty }
    var count: Int { objects.count }
    var all: [ManagedObject] { objects.map { $0.takeUnretainedValue() } }

    @inline(__always)
    mutating func append(_ object: ManagedObject) { objects.append(.passUnretained(object)) }

    mutating func reserveCapacity(_ count: Int) { objects.reserveCapacity(count) }

    @inline(__always)
    func forEach(_ body: (ManagedObject) -> Void) {
        for object in objects { object._withUnsafeGuaranteedRef(body) }
    }

    @inline(__always)
    func forEachWithPosition(_ body: (Int, ManagedObject) -> Void) {
        for position in objects.indices { objects[position]._withUnsafeGuaranteedRef { body(position, $0) } }
    }
}
