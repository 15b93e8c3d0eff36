enum ObservedProperty: Hashable {
    /// The index of the field of a stored attribute or a to-one relationship.
    case field(Int)
    /// The number of a to-many relationship.
    case members(Int)
    /// The name of a transient attribute.
    case transient(String)
    /// Whether the object is deleted.
    case deletion
}

extension ManagedObject {
    /// Provides a distinct key path for each property.
    ///
    /// The key paths only identify properties, and no code reads through them. Accessors know the
    /// index, number or name of a property, but not the property's key path in its class.
    final subscript(observed property: ObservedProperty) -> Void { () }
}

/// The key paths of properties, each created once.
///
/// All objects of a context can share the key paths, because an observation also contains the
/// object.
struct ObservedKeyPaths {
    private var fields: [KeyPath<ManagedObject, Void>] = []
    private var members: [KeyPath<ManagedObject, Void>] = []
    private var transients: [String: KeyPath<ManagedObject, Void>] = [:]
    private let deletion: KeyPath<ManagedObject, Void> = Self.make(.deletion)

    private static func make(_ property: ObservedProperty) -> KeyPath<ManagedObject, Void> {
        \ManagedObject.[observed: property]
    }

    subscript(_ property: ObservedProperty) -> KeyPath<ManagedObject, Void> {
        mutating get {
            switch property {
            case .field(let index):
                while fields.count <= index { fields.append(Self.make(.field(fields.count))) }
                return fields[index]
            case .members(let number):
                while members.count <= number { members.append(Self.make(.members(members.count))) }
                return members[number]
            case .transient(let name):
                if let known = transients[name] { return known }
                let fresh = Self.make(property)
                transients[name] = fresh
                return fresh
            case .deletion: return deletion
            }
        }
    }
}
