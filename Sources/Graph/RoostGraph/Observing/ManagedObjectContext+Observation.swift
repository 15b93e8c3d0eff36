internal import RoostCore

extension ManagedObjectContext {
    /// Whether `withObservationTracking` and SwiftUI see reads and writes of the context's objects.
    ///
    /// Set this property before the context has objects. Setting it later is an error that the next
    /// save, fetch or count throws. A child of an observable context is observable, too.
    ///
    /// ```swift
    /// let context = container.viewContext
    /// context.isObservable = true
    /// let album: Album = try context.insert()
    /// withObservationTracking {
    ///     print(album.title ?? "")
    /// } onChange: {
    ///     print("The title will change.")
    /// }
    /// album.title = "Blue"
    /// ```
    ///
    /// - An observation covers one property of one object: an attribute (transient or stored), a
    ///   relationship, or ``ManagedObject/isDeleted``. A setter reports before and after it writes.
    /// - Other changes are reported at the end of the call that causes them: the other sides of
    ///   relationships, delete rules, merges, rollback, undo and redo. Properties with the same
    ///   value are not reported. A rollback reads nothing, so it reports all to-many relationships
    ///   that were read.
    /// - All properties of an object are reported if it is deleted, leaves the context or becomes a
    ///   fault.
    /// - SwiftUI needs nothing else: an object is `Observable`, so a view that read a property is
    ///   updated when the property changes.
    ///
    /// The results of fetches are not observed, nor is the state of an object except
    /// ``ManagedObject/isDeleted``. Use ``observe(_:)`` to observe the changes of an event.
    ///
    /// - Complexity: Each read and write calls a function. An object that was read needs more memory,
    ///   for its registrar. Other contexts have no such costs.
    public var isObservable: Bool {
        get { core.observation != nil }
        set {
            guard newValue != isObservable else { return }
            guard core.registry.count == 0 else {
                return core.latch(
                    StoreError(
                        .invalidRequest,
                        "The context has objects, so it can no longer be made observable or not. Set isObservable before the first fetch or insert."
                    ))
            }
            core.observation = newValue ? ObjectObservation() : nil
        }
    }
}
