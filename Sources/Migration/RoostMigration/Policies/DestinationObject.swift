public import RoostCore

/// An object of the destination of a migration.
///
/// A handle: cheap to pass on and to keep. Values can be read and set until the migration validates
/// what was made; what was not written yet is kept in memory, a batch at a time, and shows in
/// everything that the policies look at. Two handles are equal when they mean the same object.
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
    /// The object's key.
    let key: Int64
    /// The object's position in memory, and the generation in which it is valid: saves a lookup.
    var slot = 0
    var generation = -1

    /// The object as associations name it.
    var place: AssociationTable.Object { AssociationTable.Object(entity: entityNumber, key: key) }

    /// The object's identity in the destination.
    public var id: ObjectID { ObjectID(content.model.entities[entityNumber].name, key: key) }

    /// The value of an attribute, or the ID of the destination of a to-one relationship.
    ///
    /// A value of the wrong type or range, and a name that the entity does not have, end the
    /// migration as soon as the callback returns. A to-one relationship that has an inverse is set
    /// with ``setObject(_:for:)``.
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
    /// - Throws: `unknownProperty`, and what reading the destination throws.
    public func object(_ relationship: String) throws(StoreError) -> DestinationObject? {
        try content.destinations(of: relationship, from: self).first
    }

    /// Returns the destinations of a relationship, in its order or by key.
    ///
    /// For a to-many relationship this reads the destination, after writing what is in memory.
    ///
    /// - Throws: `unknownProperty`, and what reading the destination throws.
    public func objects(_ relationship: String) throws(StoreError) -> [DestinationObject] {
        try content.destinations(of: relationship, from: self)
    }

    /// Sets or clears the destination of a to-one relationship; the inverse follows.
    ///
    /// - Throws: `unknownProperty`; `invalidRequest` for a to-many relationship and an object of
    ///   another entity.
    public func setObject(_ destination: DestinationObject?, for relationship: String) throws(StoreError) {
        try content.setDestinations(destination.map { [$0] } ?? [], of: relationship, from: self, isToMany: false)
    }

    /// Sets the destinations of a to-many relationship to exactly these objects, each once and in
    /// this order; the inverse follows.
    ///
    /// - Throws: `unknownProperty`; `invalidRequest` for a to-one relationship and for objects of
    ///   another entity.
    public func setObjects(_ destinations: [DestinationObject], for relationship: String) throws(StoreError) {
        try content.setDestinations(destinations, of: relationship, from: self, isToMany: true)
    }

    /// Whether both mean the same object.
    public static func == (left: Self, right: Self) -> Bool {
        left.key == right.key && left.entityNumber == right.entityNumber && left.content === right.content
    }

    /// Hashes in agreement with `==`.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(entityNumber)
        hasher.combine(key)
    }
}
