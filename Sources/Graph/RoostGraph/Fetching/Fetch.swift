public import Foundation
public import RoostCore
internal import RoostPredicates

/// A request for objects of one class.
///
/// ```swift
/// let request = Fetch<Album>(where: "year > 1970", sortedBy: ["title"], limit: 20)
/// for album in try context.fetch(request) { print(album.title) }
/// ```
public struct Fetch<Object: ManagedObjectClass>: Sendable {
    /// The untyped request.
    public var request: FetchRequest
    /// The paths of relationships, such as `tracks.genre`, whose objects the fetch reads as well.
    public var prefetching: [String] = []
    /// Whether the result includes unsaved changes.
    public var includesPendingChanges = true
    /// Whether objects that are already in the context get the fetched values, if they have no
    /// unsaved changes.
    public var refreshesObjects = false

    /// Creates a request.
    public init(
        where predicate: FetchRequest.Predicate? = nil, sortedBy sortDescriptors: [FetchRequest.SortDescriptor] = [],
        limit: Int? = nil, offset: Int? = nil
    ) {
        request = FetchRequest(
            Object.entityName, where: predicate, sortedBy: sortDescriptors, limit: limit, offset: offset)
    }

    /// Creates a request from a Foundation predicate.
    ///
    /// ```swift
    /// let request = try Fetch(#Predicate<Album> { $0.year > 1970 && $0.artist?.name == "Joni" })
    /// ```
    ///
    /// - Throws: `unsupported` for an expression that requests cannot represent.
    public init(
        _ predicate: Foundation.Predicate<Object>, sortedBy keys: [SortKey<Object>] = [], limit: Int? = nil,
        offset: Int? = nil
    ) throws(StoreError) {
        self.init(
            where: try FetchRequest.Predicate(predicate), sortedBy: keys.map(\.descriptor), limit: limit,
            offset: offset)
    }
}

/// A sort order by a property of a class.
///
/// ```swift
/// let newest = SortKey(\Album.year, order: .reverse)
/// ```
public struct SortKey<Object: ManagedObjectClass>: Sendable {
    let descriptor: FetchRequest.SortDescriptor

    /// Creates an order.
    public init<V>(_ path: any KeyPath<Object, V> & Sendable, order: SortOrder = .forward) {
        descriptor = FetchRequest.SortDescriptor(
            Object.propertyName(of: path) ?? "\(path)", ascending: order == .forward)
    }
}
