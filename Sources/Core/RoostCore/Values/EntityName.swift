/// The name of an entity, interned: four bytes, compared and hashed as a number.
///
/// Two names with the same text are equal wherever they come from, so that an ``ObjectID`` needs
/// neither a model nor a string. Names live as long as the process; a model's limits bound how many
/// a hostile file can add.
///
/// ```swift
/// let track: EntityName = "Track"
/// let count = try store.count(track, where: "plays > 0")
/// if id.entity == track { print("\(id) is one of \(count) tracks") }
/// ```
public struct EntityName: Hashable, Sendable {
    /// The position in the table of interned names.
    ///
    /// It has no meaning outside this process.
    @usableFromInline let symbol: UInt32

    private struct Table {
        var names: [String] = []
        var symbols: [String: UInt32] = [:]
    }

    private static let table = Mutex(Table())

    /// The interned name with this text.
    ///
    /// - Complexity: One dictionary look-up under a lock; keep the result, do not intern per
    ///   object.
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
    /// The interned name with this text.
    public init(stringLiteral text: String) { self.init(text) }
}

extension EntityName: CustomStringConvertible {
    /// The name's text.
    public var description: String { text }
}

extension EntityName: Comparable {
    /// Orders names by the bytes of their text, the order in which a model numbers its entities.
    public static func < (left: Self, right: Self) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }
}

/// A relationship of an entity, by name.
public struct RelationshipName: Hashable, Sendable, CustomStringConvertible {
    /// The entity that declares the relationship, or one that inherits it.
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
