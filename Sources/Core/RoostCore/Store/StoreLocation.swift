/// The location of a store: its type, and usually a path.
///
/// Programs write `.sqlite("music.sqlite")` or `.memory`; see the module `Roost`. A new type of
/// store adds its location in an extension:
///
/// ```swift
/// extension StoreLocation {
///     public static func csv(_ path: String) -> StoreLocation {
///         StoreLocation(type: "csv", path: path)
///     }
/// }
/// ```
///
/// The text form of a location is `type:path`.
public struct StoreLocation: Hashable, Sendable, CustomStringConvertible {
    /// The name of the store's type.
    public let type: String
    /// The path of the store's file; for a store without a file, a name, which may be empty.
    public let path: String

    /// Creates a location.
    ///
    /// - Parameters:
    ///   - type: The ``PersistentStoreType/name`` of the store's type.
    ///   - path: The path of a file, or a name.
    public init(type: String, path: String) {
        self.type = type
        self.path = path
    }

    /// Reads a location from the text `type:path`, or from `type:///path` with an absolute path.
    ///
    /// A type starts with a lower-case ASCII letter and has at least two characters, so that `C:\x`
    /// is a path. To also accept a path without a type, use ``StoreRegistry/resolve(_:)``.
    ///
    /// - Parameter text: The text.
    /// - Returns: The location.
    /// - Throws: `invalidRequest` for a text without a type, such as a path.
    public static func url(_ text: String) throws(StoreError) -> StoreLocation {
        guard let location = StoreLocation(text: text) else {
            throw StoreError(
                .invalidRequest,
                "'\(text)' has no type of store; write type:path, as in sqlite:\(text).")
        }
        return location
    }

    package init?(text: String) {
        guard let colon = text.firstIndex(of: ":") else { return nil }
        let type = text[..<colon]
        guard type.utf8.count >= 2, let first = type.utf8.first,
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(first),
            type.utf8.allSatisfy({ byte in
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || byte == UInt8(ascii: "-")
            })
        else { return nil }
        var path = text[text.index(after: colon)...]
        if path.hasPrefix("///") { path = path.dropFirst(2) }
        self.init(type: String(type), path: String(path))
    }

    /// `type:path`.
    public var description: String { "\(type):\(path)" }
}
