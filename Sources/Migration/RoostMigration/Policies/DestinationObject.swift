public import RoostCore

/// A lightweight handle of an object in the destination of a migration.
///
/// Values can be read and set until the migration validates the objects. Unwritten values can be
/// read too.
///
/// In a policy's ``EntityMigrationPolicy/createDestinationInstances(for:by:in:)``:
///
/// ```swift
/// let track = try session.createStandardInstance(for: source)
/// let lyrics = try session.insert("Lyrics")
/// lyrics["text"] = source["lyrics"]
/// try lyrics.setObject(track, for: "track")
/// ```
public struct DestinationObject: ObjectValues, Hashable {
    let content: DestinationContent
    /// The number of the object's entity in the destination's model.
    let entityNumber: Int
    let key: Int64
    /// The object's position in memory, stored here to avoid a lookup.
    var slot = 0
    /// The ``BufferedObjects/generation`` in which ``slot`` is valid.
    var generation = -1

    /// The object's identity in associations.
    var place: AssociationTable.Object { AssociationTable.Object(entity: entityNumber, key: key) }

    /// The object's identity in the destination.
    public var id: ObjectID { ObjectID(content.model.entities[entityNumber].name, key: key) }

    /// The value of an attribute, or the ID of the destination of a to-one relationship.
    ///
    /// A value of the wrong type or range, or an unknown name, makes the migration fail when the
    /// callback returns. For a to-one relationship, prefer ``setObject(_:for:)``, which throws its
    /// errors.
    public subscript(name: String) -> Value {
        get {
            do throws(StoreError) { return try content.value(name, of: self) } catch {
                content.failures.note(error)
                return .null
            }
        }
        nonmutating set {
            do throws(StoreError) { try content.set(newValue, name: name, of: self) } catch {
                content.failures.note(error)
            }
        }
    }

    /// Returns the destination of a to-one relationship, or nil.
    ///
    /// - Throws: `unknownProperty`, and errors from reading the destination.
    public func object(_ relationship: String) throws(StoreError) -> DestinationObject? {
        try content.destinations(of: relationship, from: self).first
    }

    /// Returns the destinations of a relationship, by position if it is ordered, otherwise by key.
    ///
    /// For a to-many relationship, this first writes the objects in memory, and then reads the
    /// destination.
    ///
    /// - Throws: `unknownProperty`, and errors from reading the destination.
    public func objects(_ relationship: String) throws(StoreError) -> [DestinationObject] {
        try content.destinations(of: relationship, from: self)
    }

    /// Sets or clears the destination of a to-one relationship, and updates the inverse.
    ///
    /// - Throws: `unknownProperty`; `invalidRequest` for a to-many relationship or an object of
    ///   the wrong entity; errors of the destination.
    public func setObject(_ destination: DestinationObject?, for relationship: String) throws(StoreError) {
        try content.setDestinations(destination.map { [$0] } ?? [], of: relationship, from: self, isToMany: false)
    }

    /// Sets the destinations of a to-many relationship to exactly the given objects, and updates
    /// the inverse.
    ///
    /// Duplicates are ignored. An ordered relationship gets the order of the array.
    ///
    /// - Throws: `unknownProperty`; `invalidRequest` for a to-one relationship or for objects of
    ///   the wrong entity; errors of the destination.
    public func setObjects(_ destinations: [DestinationObject], for relationship: String) throws(StoreError) {
        try content.setDestinations(destinations, of: relationship, from: self, isToMany: true)
    }

    /// Returns whether both handles refer to the same object.
    public static func == (left: Self, right: Self) -> Bool {
        left.key == right.key && left.entityNumber == right.entityNumber && left.content === right.content
    }

    /// Hashes the handle consistently with `==`.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(entityNumber)
        hasher.combine(key)
    }
}
