/// Where a store is: its type and what the type needs to find it, mostly a path.
///
/// Written `type:path`.
public struct StoreURL: Hashable, Sendable, CustomStringConvertible {
    /// The name of the store's type.
    public let type: String
    /// The path of a store that is a file; the name, possibly empty, of one that is not.
    public let path: String

    /// Makes a URL.
    public init(type: String, path: String) {
        self.type = type
        self.path = path
    }

    /// Reads `type:path`, or `type:///path` for an absolute path.
    ///
    /// Nil when there is no type, as in a bare path.
    ///
    /// A type starts with a lower-case ASCII letter and has at least two characters, so that `C:\x` is a path.
    public init?(_ text: String) {
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
