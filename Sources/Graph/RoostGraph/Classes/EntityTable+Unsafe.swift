internal import RoostCore

/// A table of entity information by entity number.
///
/// Reading an entry does not change a reference count.
///
/// SAFETY: the entity numbers come from models, and from records whose entities a store has
/// verified. The owner of the table keeps each `EntityInfo` alive, and deallocates the table when
/// the owner is deallocated. A core keeps the owner alive.
struct EntityTable: @unchecked Sendable {
    // Proof for `Sendable`: only the initializer writes the memory.

    private struct Entry {
        let info: Unmanaged<EntityInfo>
        let type: ManagedObject.Type
        let root: Int
        let tail: RowAccess.TailLayout
    }

    private let entries: UnsafeMutablePointer<Entry>

    /// Creates a table; the caller must keep the entities alive as long as the table.
    init(_ infos: [EntityInfo]) {
        entries = .allocate(capacity: max(1, infos.count))
        for (number, info) in infos.enumerated() {
            (entries + number).initialize(
                to: Entry(
                    info: .passUnretained(info), type: info.type, root: info.entity.root, tail: info.tail))
        }
    }

    func deallocate() { entries.deallocate() }

    @inline(__always)
    func info(_ number: Int) -> EntityInfo { entries[number].info.takeUnretainedValue() }

    @inline(__always)
    func type(_ number: Int) -> ManagedObject.Type { entries[number].type }

    @inline(__always)
    func root(_ number: Int) -> Int { entries[number].root }

    @inline(__always)
    func haveEqualLinks(_ left: UnsafeRawPointer, right: UnsafeRawPointer, number: Int) -> Bool {
        entries[number].info._withUnsafeGuaranteedRef { $0.haveEqualLinks(left, right) }
    }

    @inline(__always)
    func tail(_ number: Int) -> RowAccess.TailLayout { entries[number].tail }
}
