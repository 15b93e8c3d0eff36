/// A property of an object that can be observed.
enum ObservedProperty: Hashable {
    /// A stored attribute or a to-one relationship, by the position of its field.
    case field(Int)
    /// A to-many relationship, by its number.
    case members(Int)
    /// A transient attribute, by its name.
    case transient(String)
    /// Whether the object is deleted.
    case deletion
}

extension ManagedObject {
    /// Provides a distinct key path for each property.
    ///
    /// No code reads through the key paths. The slow path of an accessor identifies a property by
    /// its position, not by the key path of a class.
    final subscript(observed property: ObservedProperty) -> Void { () }
}

/// The key paths of properties, each created once.
///
/// All objects of a context share them, because an observation consists of a key path and one
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
