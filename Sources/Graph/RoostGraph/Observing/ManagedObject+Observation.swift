public import Observation
internal import RoostCore

extension ManagedObject: Observable {}

extension ManagedObject {
    @inline(__always)
    final func noteAccess(_ property: ObservedProperty) {
        if let observation = core.observation { observation.access(self, property: property) }
    }

    @inline(__always)
    final func noteAccess(_ field: RecordLayout.Field) { noteAccess(.field(field.index)) }

    /// Runs `body`, which sets a property, and notifies observers before and after.
    @inline(__always)
    final func setting<Result, Failure: Error>(
        _ property: ObservedProperty, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        guard let observation = core.observation else { return try body() }
        observation.willSet(self, property: property)
        defer {
            observation.didSet(self, property: property)
            observation.report()
        }
        return try body()
    }

    final func add(_ member: ManagedObject, relationship: Int) {
        setting(.members(relationship)) { core.add(member, to: self, relationship: relationship) }
    }

    final func remove(_ member: ManagedObject, relationship: Int) {
        setting(.members(relationship)) { core.remove(member, from: self, relationship: relationship) }
    }

    /// Returns the property of a field, or nil for composites and elements, which change together.
    final func property(of field: RecordLayout.Field) -> ObservedProperty? {
        field.kind == .composite || field.name.contains(".") ? nil : .field(field.index)
    }

    @inline(never)
    final func setObservedRow(_ new: UnsafeRawPointer?) {
        let old = row
        fastRow = new.map { $0 + 1 } ?? Self.noRow(or: fastRow)
        // Without an old row, a fault was read, which changes no value. Without a new row, the object becomes a fault,
        // and ``GraphCore/turnIntoFault(_:)`` reports all properties.
        guard let old, let new, old != new, let observation = core.observation else { return }
        observation.noteDifferences(of: self, old: old, new: new)
    }
}
