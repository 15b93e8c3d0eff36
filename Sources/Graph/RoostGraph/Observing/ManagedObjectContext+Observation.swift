internal import RoostCore

extension ManagedObjectContext {
    /// Whether `withObservationTracking` and SwiftUI see reads and writes of the context's objects.
    ///
    /// Set this property before the context has objects. If it is set later, the next save, fetch
    /// or count throws an error. A child of an observable context is also observable.
    ///
    /// - An observation covers one property of one object: an attribute (transient or stored), a
    ///   relationship, or ``ManagedObject/isDeleted``. A setter reports before and after it writes.
    /// - Changes of inverses, and changes by delete rules, merges, rollback, undo and redo, are
    ///   reported at the end of the call that causes them. Properties whose value remains the same
    ///   are not reported. However, a rollback reports all read or changed to-many relationships of
    ///   changed objects.
    /// - All properties of an object are reported if it is deleted, leaves the context or becomes a
    ///   fault.
    /// - SwiftUI needs no other setup.
    ///
    /// Results of fetches are not observed. Use ``observe(_:)`` to observe the changes of an event.
    ///
    /// - Complexity: Each read and write calls a function. An object whose properties were read
    ///   needs memory for a registrar. A context that is not observable has no such costs.
    public var isObservable: Bool {
        get { core.observation != nil }
        set {
            guard newValue != isObservable else { return }
            guard core.registry.count == 0 else {
                return core.latch(
                    StoreError(
                        .invalidRequest,
                        "isObservable cannot change while the context has objects. Set it before the first fetch or insert."
                    ))
            }
            core.observation = newValue ? ObjectObservation() : nil
        }
    }
}
