internal import Observation
internal import RoostCore

/// The observation of a context's objects.
///
/// A setter reports its property to observers before and after it writes. All other changes, such
/// as the other sides of relationships, merges, rollback and undo, are noted while they happen,
/// because code of the program must not run in the middle of them. They are reported at the end of
/// the call, when the graph is consistent again.
///
/// An object gets a registrar at the first read of one of its properties. Until then its changes
/// are not noted.
final class ObjectObservation {
    /// The changes of an object that are not reported yet.
    private struct Pending {
        let object: ManagedObject
        // The object can leave the context before its changes are reported.
        let registrar: ObservationRegistrar
        var properties: Set<ObservedProperty> = []
        /// Whether all properties can have changed.
        var isWhole = false
        /// By relationship: the members before they were forgotten, which are to be read again and
        /// compared.
        var forgotten: [Int: [Int64]] = [:]
    }

    private var registrars: [ObjectIdentifier: ObservationRegistrar] = [:]
    private var keyPaths = ObservedKeyPaths()
    private var pending: [Pending] = []
    private var positions: [ObjectIdentifier: Int] = [:]
    private var isReporting = false
    /// Whether changes are not noted, because a read makes them.
    var isPaused = false

    // MARK: Reading

    /// Notes that a property was read.
    func access(_ object: ManagedObject, property: ObservedProperty) {
        let id = ObjectIdentifier(object)
        if let known = registrars[id] { return known.access(object, keyPath: keyPaths[property]) }
        let fresh = ObservationRegistrar()
        registrars[id] = fresh
        fresh.access(object, keyPath: keyPaths[property])
    }

    /// Forgets an object that ends, or leaves the context.
    func forget(_ object: ManagedObject) { registrars[ObjectIdentifier(object)] = nil }

    // MARK: Writing

    /// Reports that a setter is about to write a property.
    func willSet(_ object: ManagedObject, property: ObservedProperty) {
        registrars[ObjectIdentifier(object)]?.willSet(object, keyPath: keyPaths[property])
    }

    /// Reports that a setter wrote a property.
    func didSet(_ object: ManagedObject, property: ObservedProperty) {
        let id = ObjectIdentifier(object)
        // The change was noted, too, as all changes of rows and members are.
        if let position = positions[id] { pending[position].properties.remove(property) }
        registrars[id]?.didSet(object, keyPath: keyPaths[property])
    }

    // MARK: Other changes

    private func change(_ object: ManagedObject, _ body: (inout Pending) -> Void) {
        guard !isPaused else { return }
        let id = ObjectIdentifier(object)
        if let position = positions[id] { return body(&pending[position]) }
        guard let registrar = registrars[id] else { return }
        var fresh = Pending(object: object, registrar: registrar)
        body(&fresh)
        positions[id] = pending.count
        pending.append(fresh)
    }

    /// Notes that a property changed.
    func note(_ object: ManagedObject, property: ObservedProperty) {
        change(object) { $0.properties.insert(property) }
    }

    /// Notes that all properties can have changed.
    func noteAll(_ object: ManagedObject) { change(object) { $0.isWhole = true } }

    /// Notes the properties that differ between two rows of an object.
    func noteDifferences(of object: ManagedObject, old: UnsafeRawPointer, new: UnsafeRawPointer) {
        guard registrars[ObjectIdentifier(object)] != nil else { return }
        let (oldCount, newCount) = (object.tail.byteCount(old), object.tail.byteCount(new))
        guard !RowAccess.haveEqualContent(old, leftCount: oldCount, right: new, rightCount: newCount) else { return }
        let model = object.core.model
        let former = RecordReader(row: old, byteCount: oldCount, key: object.key, model: model)
        let present = RecordReader(row: new, byteCount: newCount, key: object.key, model: model)
        for field in object.info.entity.layout.fields where field.kind != .order {
            if former.value(field) != present.value(field) { note(object, property: .field(field.index)) }
        }
    }

    /// Notes that the context forgets the members of an object's relationships, which stores can
    /// have changed.
    func noteForgotten(_ object: ManagedObject) {
        guard let extra = object.extra, registrars[ObjectIdentifier(object)] != nil else { return }
        for (relationship, state) in extra.members {
            guard state.base != nil, let keys = state.current else { continue }
            change(object) { if $0.forgotten[relationship] == nil { $0.forgotten[relationship] = keys } }
        }
    }

    /// Notes that all members and transient values of an object that are known are discarded.
    func noteDiscarded(_ object: ManagedObject) {
        guard let extra = object.extra, registrars[ObjectIdentifier(object)] != nil else { return }
        for (relationship, _) in extra.members { note(object, property: .members(relationship)) }
        for name in extra.transients.keys { note(object, property: .transient(name)) }
    }

    // MARK: Reporting

    /// Reports the changes that were noted.
    ///
    /// Code of the program runs, so the graph must be consistent.
    func report() {
        guard !pending.isEmpty, !isReporting else { return }
        isReporting = true
        defer { isReporting = false }
        while !pending.isEmpty {
            let list = pending
            pending.removeAll()
            positions.removeAll()
            for entry in list {
                for property in changedProperties(entry) {
                    let keyPath = keyPaths[property]
                    entry.registrar.willSet(entry.object, keyPath: keyPath)
                    entry.registrar.didSet(entry.object, keyPath: keyPath)
                }
            }
        }
    }

    private func changedProperties(_ entry: Pending) -> Set<ObservedProperty> {
        let (object, info) = (entry.object, entry.object.info)
        var properties = entry.properties
        if entry.isWhole {
            properties.insert(.deletion)
            for field in info.entity.layout.fields where field.kind != .order {
                properties.insert(.field(field.index))
            }
            for relationship in info.relationships where relationship.isToMany {
                properties.insert(.members(relationship.number))
            }
            for name in info.transients.keys { properties.insert(.transient(name)) }
            return properties
        }
        for (relationship, keys) in entry.forgotten where !properties.contains(.members(relationship)) {
            let present = try? object.core.memberKeys(of: object, relationship: relationship)
            if present != keys { properties.insert(.members(relationship)) }
        }
        return properties
    }
}

extension GraphCore {
    /// Reports to observers of objects what changed, except what setters report.
    @inline(__always)
    func reportChanges() {
        if let observation { observation.report() }
    }
}
