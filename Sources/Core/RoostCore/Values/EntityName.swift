/// The interned name of an entity, represented by a four-byte number.
///
/// In a process, equal names have equal numbers. So an ``ObjectID`` contains neither a model nor a
/// string. Names are never freed. A hostile file can add at most as many names as the limits of a
/// model allow.
///
/// ```swift
/// let track: EntityName = "Track"
/// let count = try store.count(track, where: "plays > 0")
/// if id.entity == track { print("\(id) is one of \(count) tracks") }
/// ```
public struct EntityName: Hashable, Sendable {
    /// The position in this process's table of names.
    @usableFromInline let symbol: UInt32

    private struct Table {
        var names: [String] = []
        var symbols: [String: UInt32] = [:]
    }

    private static let table = Mutex(Table())

    /// Interns a name.
    ///
    /// - Complexity: One dictionary look-up under a lock, so save the result for repeated use.
    public init(_ text: String) {
        symbol = Self.table.withLock { table in
            if let known = table.symbols[text] { return known }
            let next = UInt32(table.names.count)
            table.names.append(text)
            table.symbols[text] = next
            return next
        }
    }

    /// The name's text.
    public var text: String { Self.table.withLock { $0.names[Int(symbol)] } }
}

extension EntityName: ExpressibleByStringLiteral {
    /// Interns a name.
    public init(stringLiteral text: String) { self.init(text) }
}

extension EntityName: CustomStringConvertible {
    /// The name's text.
    public var description: String { text }
}

extension EntityName: Comparable {
    /// Compares names by the bytes of their text, which is also the order of a model's entities.
    public static func < (left: Self, right: Self) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }
}

/// The name of a relationship and the name of an entity that has it.
public struct RelationshipName: Hashable, Sendable, CustomStringConvertible {
    /// The entity that declares or inherits the relationship.
    public let entity: EntityName
    /// The relationship's name.
    public let name: String

    /// Creates the name of a relationship.
    public init(_ entity: EntityName, name: String) {
        self.entity = entity
        self.name = name
    }

    /// `Entity.name`.
    public var description: String { "\(entity).\(name)" }
}
