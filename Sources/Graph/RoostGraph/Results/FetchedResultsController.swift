public import RoostCore
internal import RoostStores

/// The sorted result of a request, in sections, kept up to date with the changes of its context.
///
/// ```swift
/// let albums = try FetchedResultsController(
///     Fetch<Album>(where: "year > 1970", sortedBy: ["artist.name", "title"]), in: context,
///     sections: "artist.name")
/// albums.onChange = { change in
///     for item in change.inserted { print(albums[item.place].title ?? "") }
/// }
/// ```
///
/// At the end of each event of the context, after observers were called, the controller applies the
/// changes to the result, and reports one difference. The events include saves, merges of saves by
/// other contexts and batch requests, undo, rollbacks, refreshes and resets.
///
/// The controller guarantees:
///
/// - The result equals a fetch at the end of the event, and applying the difference to the old
///   result gives the new result.
/// - A difference lists exactly the objects of the result that changed in the event, even if a
///   property was set to its former value. There are two exceptions. In a window, other objects
///   leave or enter at the edges. If the predicate, the order or the sections follow relationships,
///   objects enter, leave or move because of changes of other objects.
/// - The program sees the new result when `onChange` is called. Changes that it makes during the
///   call are reported afterwards.
///
/// The controller fetches again only if the changed objects do not determine the result:
///
/// - The predicate, the order or the sections read a changed object through a relationship. A
///   changed reference alone does not require a fetch, unless the relationship is to-many or its
///   destination is in the same hierarchy.
/// - The request has an offset, and objects outside of the window changed or objects left it.
/// - The request has only a limit, the window is full, and more objects left it than entered.
/// - The context was reset.
/// - Another container or process changed the store, so the changed objects are not known.
/// - The last update failed.
/// - The request does not include pending changes.
/// - The context is a child that follows its parent, and an event of the parent changed objects.
///
/// After a rollback or a refresh, the controller reads the objects whose changes were discarded.
///
/// The controller keeps the context alive, but not the objects. A difference is computed in the
/// isolation of the context. A context without controllers has no costs.
///
/// - Complexity: Memory for each row is about 60 to 100 bytes and the bytes of its sort keys, and
///   nothing for rows outside of a window. An event with *m* changed objects takes
///   O(*m* log *n*) comparisons in a result of *n* rows.
public final class FetchedResultsController<Object: ManagedObject> {
    private let result: FollowedResult

    /// Fetches a result, and keeps it up to date from now on.
    ///
    /// Ends the event of a context without a home, as a fetch does.
    ///
    /// - Parameters:
    ///   - request: The request, with the order of the result. Objects with equal values are
    ///     ordered by their IDs. Prefetching and refreshing have no effect.
    ///   - context: The context.
    ///   - path: An attribute, or a path to an attribute through to-one relationships. Objects with
    ///     the same value form a section. The result is sorted by this value first, even if the
    ///     request is not. Nil for one section without a name, which exists even if it is empty.
    ///   - name: Returns the name of the section for a value of `path`, such as its first letter.
    ///     The function must return equal names only for neighbors in the order. By default, the
    ///     name is the text of the value.
    /// - Throws: The same errors as ``ManagedObjectContext/fetch(_:)-(FetchRequest)``;
    ///   `invalidRequest` for a path whose values have no order.
    public convenience init(
        _ request: Fetch<Object>, in context: ManagedObjectContext, sections path: String? = nil,
        named name: ((Value) -> String)? = nil
    ) throws(StoreError) where Object: ManagedObjectClass {
        try self.init(
            request.request, includesPendingChanges: request.includesPendingChanges, context: context, path: path, name)
    }

    /// Fetches a result of an entity without a class, and keeps it up to date from now on.
    ///
    /// - Throws: The same errors as ``init(_:in:sections:named:)-(Fetch<Object>,_,_,_)``.
    public convenience init(
        _ request: FetchRequest, in context: ManagedObjectContext, sections path: String? = nil,
        named name: ((Value) -> String)? = nil
    ) throws(StoreError) where Object == ManagedObject {
        try self.init(request, includesPendingChanges: true, context: context, path: path, name)
    }

    private init(
        _ request: FetchRequest, includesPendingChanges: Bool, context: ManagedObjectContext, path: String?,
        _ name: ((Value) -> String)?
    ) throws(StoreError) {
        let compiled = try ResultsRequest(
            request, includesPendingChanges: includesPendingChanges, sections: path, named: name, model: context.model)
        for number in compiled.entity.selfAndSubentities
        where !(context.core.table.type(number) is Object.Type) {
            throw StoreError(
                .invalidModel,
                "The container does not know the class '\(Object.self)'. Pass it to the container's initializer.")
        }
        result = try FollowedResult(context, request: compiled)
    }

    /// The context whose changes the controller follows.
    public var context: ManagedObjectContext { result.context }

    // MARK: The result

    /// The sections in their order, as values.
    ///
    /// - Complexity: O(1) for each section. If the program keeps the value, the next event copies
    ///   the parts that it changes.
    public var sections: [ResultsSection] { result.sections }

    /// The number of objects in all sections.
    public var count: Int { result.list.count }

    /// All objects in their order.
    ///
    /// - Complexity: O(*n*). Objects that are not in the context are read, 64 at once.
    public var objects: [Object] {
        var objects: [Object] = []
        objects.reserveCapacity(count)
        for (number, section) in result.list.sections.enumerated() {
            for item in 0..<section.count { objects.append(self[ResultsPlace(section: number, item: item)]) }
        }
        return objects
    }

    /// The object at a place, which must exist.
    ///
    /// An object that is not in the context is read, with up to 63 of its neighbors. An error of
    /// reading is thrown by the next save, fetch or count.
    public subscript(place: ResultsPlace) -> Object {
        let sections = result.list.sections
        precondition(
            sections.indices.contains(place.section) && (0..<sections[place.section].count).contains(place.item),
            "the result has no object at item \(place.item) of section \(place.section)")
        // The initializer has checked the classes of the request's entities.
        return unsafeDowncast(result.object(at: place), to: Object.self)
    }

    /// Returns the place of an object, or nil if it is not in the result.
    ///
    /// - Complexity: O(1), and one addition for each chunk of the section before the object.
    public func place(of object: Object) -> ResultsPlace? { result.place(of: object) }

    // MARK: Changes

    /// Called with each difference, in the isolation of the context.
    public var onChange: ((ResultsChange) -> Void)? {
        get { result.onChange }
        set { result.onChange = newValue }
    }

    /// The differences from now on, for a task in any isolation.
    public var changes: ResultsChanges { ResultsChanges(result.makeChannel()) }

    /// The error that prevented the last update of the result, or nil.
    ///
    /// After an error, the result is still that from before the event. The end of the next event
    /// fetches again, and reports all differences.
    public var error: StoreError? { result.error }

    /// Fetches again, and reports the differences in the same way as an event.
    ///
    /// Only needed after an error, or to see the saves of other contexts if the context does not
    /// merge.
    ///
    /// - Throws: The same errors as ``ManagedObjectContext/fetch(_:)-(FetchRequest)``. After an
    ///   error, the result is unchanged.
    public func performFetch() throws(StoreError) { try result.fetch(nil) }

    /// Shows another part of the result, and reports the differences in the same way as an event.
    ///
    /// ```swift
    /// try albums.setWindow(offset: page * 50, limit: 50)
    /// ```
    ///
    /// - Parameters:
    ///   - offset: The number of objects to skip, or nil for none.
    ///   - limit: The maximum number of objects in the result, or nil for all.
    /// - Throws: The same errors as ``performFetch()``. After an error, the window is unchanged.
    public func setWindow(offset: Int?, limit: Int?) throws(StoreError) {
        try result.fetch(try result.request.with(offset: offset, limit: limit))
    }
}
