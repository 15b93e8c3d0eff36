public import RoostCore
internal import RoostStores

/// The sorted result of a request, divided into sections and updated as a context changes.
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
/// At the end of each event of the context, after observers were called, the controller updates the
/// result and reports any difference. Events include saves, undo, rollbacks, refreshes, resets, and
/// merges of batch requests and other contexts' saves.
///
/// The controller guarantees:
///
/// - At the end of the event, the result equals that of a new fetch.
/// - A difference lists exactly the objects of the result that changed in the event, with two
///   exceptions. Unchanged objects can enter or leave a *window*, which is a result with an offset
///   or a limit. If the predicate, the order or the sections follow relationships, changes of
///   related objects can make unchanged objects enter, leave or move.
/// - Setting a property to its former value counts as a change.
/// - When `onChange` is called, the controller has the new result. Changes that the program makes
///   during the call are reported afterwards.
///
/// The controller fetches again only in these cases:
///
/// - The predicate, the order or the sections follow a relationship, and an object of the
///   destination's entity hierarchy changed. A change of a relationship with an inverse changes the
///   objects at both ends.
/// - The request has an offset, and a changed object is or was outside of the window.
/// - The request has only a limit, the window is full, and more objects left the window than
///   entered it.
/// - The context was reset.
/// - Another container or process changed the store, and the changed objects are unknown.
/// - The last update failed.
/// - The request does not include pending changes.
/// - The context is a child that merges automatically, and an event of the parent changed objects.
///
/// After a rollback or a refresh, the controller reads the objects whose changes were discarded.
///
/// The controller keeps the context alive, but not the objects. Differences are computed in the
/// isolation of the context.
///
/// - Complexity: Each object of the result takes about 60 to 100 bytes of memory, plus the bytes of
///   its sort keys. An event with *m* changed objects takes O(*m* log *n*) comparisons in a result
///   of *n* objects.
public final class FetchedResultsController<Object: ManagedObject> {
    private let result: FollowedResult

    /// Fetches a result, and updates it with the changes of the context.
    ///
    /// Like a fetch, the initializer ends the current event, except in the view context and in
    /// contexts of attached actors.
    ///
    /// - Parameters:
    ///   - request: The request. Objects with equal sort keys are ordered by their IDs. The
    ///     settings for prefetching and refreshing have no effect.
    ///   - context: The context.
    ///   - path: An attribute, or a path to an attribute through to-one relationships. Objects with
    ///     the same value form a section. The result is sorted by this value first. If nil, the
    ///     result always has exactly one section, whose name is empty.
    ///   - name: Returns a section's name for a value of `path`, such as the value's first letter.
    ///     Values with equal names must be neighbors in the order. By default, the name is the text
    ///     of the value.
    /// - Throws: The same errors as ``ManagedObjectContext/fetch(_:)-(FetchRequest)``;
    ///   `invalidRequest` for a path whose values have no order; `invalidModel` for a class that is
    ///   not in the container.
    public convenience init(
        _ request: Fetch<Object>, in context: ManagedObjectContext, sections path: String? = nil,
        named name: ((Value) -> String)? = nil
    ) throws(StoreError) where Object: ManagedObjectClass {
        try self.init(
            request.request, includesPendingChanges: request.includesPendingChanges, context: context, path: path, name)
    }

    /// Fetches an untyped result, and updates it with the changes of the context.
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

    /// The sections in their order, as values that later events do not change.
    ///
    /// - Complexity: O(1) for each section. If the program keeps the value, the next event copies
    ///   the parts that it changes.
    public var sections: [ResultsSection] { result.sections }

    /// The number of objects in all sections.
    public var count: Int { result.list.count }

    /// All objects in their order.
    ///
    /// - Complexity: O(*n*). Objects without values in memory are read in groups of up to 64.
    public var objects: [Object] {
        var objects: [Object] = []
        objects.reserveCapacity(count)
        for (number, section) in result.list.sections.enumerated() {
            for item in 0..<section.count { objects.append(self[ResultsPlace(section: number, item: item)]) }
        }
        return objects
    }

    /// The object at an existing place.
    ///
    /// If the object's values are not in memory, they are read together with the values of up to 63
    /// neighbors. If reading fails, the next save, fetch or count throws the error.
    public subscript(place: ResultsPlace) -> Object {
        let sections = result.list.sections
        precondition(
            sections.indices.contains(place.section) && (0..<sections[place.section].count).contains(place.item),
            "the result has no object at item \(place.item) of section \(place.section)")
        // The initializer has checked the classes of the request's entities.
        return unsafeDowncast(result.object(at: place), to: Object.self)
    }

    /// Returns the place of an object, or nil if the object is not in the result.
    ///
    /// - Complexity: O(*s* + *c*) for *s* sections and *c* chunks of up to 128 rows in the object's
    ///   section.
    public func place(of object: Object) -> ResultsPlace? { result.place(of: object) }

    // MARK: Changes

    /// A closure called with each difference, in the isolation of the context.
    public var onChange: ((ResultsChange) -> Void)? {
        get { result.onChange }
        set { result.onChange = newValue }
    }

    /// A new sequence of all later differences, for a task in any isolation.
    public var changes: ResultsChanges { ResultsChanges(result.makeChannel()) }

    /// The error that prevented the last update of the result, or nil.
    ///
    /// After an error, the result keeps its state from before the event. At the end of the next
    /// event with changes, the controller fetches again and reports all differences.
    public var error: StoreError? { result.error }

    /// Fetches again, and reports the differences as at the end of an event.
    ///
    /// Call this method after an error, or to include other contexts' saves if the context does not
    /// merge them automatically.
    ///
    /// - Throws: The same errors as ``ManagedObjectContext/fetch(_:)-(FetchRequest)``. After an
    ///   error, the result is unchanged.
    public func performFetch() throws(StoreError) { try result.fetch(nil) }

    /// Changes the window of the result, and reports the differences as at the end of an event.
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
