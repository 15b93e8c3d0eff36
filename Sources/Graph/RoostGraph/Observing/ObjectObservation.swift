internal import Observation
internal import RoostCore

/// The observation of a context's objects.
///
/// A setter reports its property to observers before and after it writes. All other changes are
/// collected, and reported at the end of the call, when the graph is consistent again.
///
/// An object gets an `ObservationRegistrar` when one of its properties is first read. Earlier
/// changes are not collected.
final class ObjectObservation {
    private struct Pending {
        let object: ManagedObject
        // Needed if the object leaves the context before the report, because `forget(_:)` removes the other reference.
        let registrar: ObservationRegistrar
        var properties: Set<ObservedProperty> = []
        /// Whether all properties may have changed.
        var isWhole = false
        /// The keys of discarded members by relationship, which the report compares with new ones.
        var forgotten: [Int: [Int64]] = [:]
    }

    private var registrars: [ObjectIdentifier: ObservationRegistrar] = [:]
    private var keyPaths = ObservedKeyPaths()
    private var pending: [Pending] = []
    private var positions: [ObjectIdentifier: Int] = [:]
    private var isReporting = false
    /// Whether changes are ignored because a read causes them.
    var isPaused = false

    // MARK: Reading

    func access(_ object: ManagedObject, property: ObservedProperty) {
        let id = ObjectIdentifier(object)
        if let known = registrars[id] { return known.access(object, keyPath: keyPaths[property]) }
        let fresh = ObservationRegistrar()
        registrars[id] = fresh
        fresh.access(object, keyPath: keyPaths[property])
    }

    func forget(_ object: ManagedObject) { registrars[ObjectIdentifier(object)] = nil }

    // MARK: Writing

    func willSet(_ object: ManagedObject, property: ObservedProperty) {
        registrars[ObjectIdentifier(object)]?.willSet(object, keyPath: keyPaths[property])
    }

    func didSet(_ object: ManagedObject, property: ObservedProperty) {
        let id = ObjectIdentifier(object)
        // Writing also added the property to `pending`. Remove it there, so that the change is not reported twice.
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

    func note(_ object: ManagedObject, property: ObservedProperty) {
        change(object) { $0.properties.insert(property) }
    }

    func noteAll(_ object: ManagedObject) { change(object) { $0.isWhole = true } }

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

    /// Records discarded members of relationships, which may have changed in the store.
    func noteForgotten(_ object: ManagedObject) {
        guard let extra = object.extra, registrars[ObjectIdentifier(object)] != nil else { return }
        for (relationship, state) in extra.members {
            guard state.base != nil, let keys = state.current else { continue }
            change(object) { if $0.forgotten[relationship] == nil { $0.forgotten[relationship] = keys } }
        }
    }

    /// Records that all members and transient values of an object are discarded.
    func noteDiscarded(_ object: ManagedObject) {
        guard let extra = object.extra, registrars[ObjectIdentifier(object)] != nil else { return }
        for (relationship, _) in extra.members { note(object, property: .members(relationship)) }
        for name in extra.transients.keys { note(object, property: .transient(name)) }
    }

    // MARK: Reporting

    /// Reports the recorded changes.
    ///
    /// Observers run code of the program, so the graph must be consistent.
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
    @inline(__always)
    func reportChanges() {
        if let observation { observation.report() }
    }
}
