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
    /// Accessors do not know the property's key path in its class.
    final subscript(observed property: ObservedProperty) -> Void { () }
}

/// The key paths of properties, shared by all objects of a context.
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
