/// A source of unique names, which differ in more than the case of ASCII letters.
///
/// The names depend only on the model and the dialect.
struct SQLNames {
    private let dialect: any SQLDialect
    private let reservedPrefix: [UInt8]?
    private var taken: Set<[UInt8]> = []

    /// Creates a source that never returns a name in `taken` or with `reservedPrefix`.
    init(dialect: any SQLDialect, taken: [String] = [], reservedPrefix: String? = nil) {
        self.dialect = dialect
        self.reservedPrefix = reservedPrefix.map { Self.folded($0) }
        for name in taken { self.taken.insert(Self.folded(name)) }
    }

    /// Reserves and returns a unique name that is based on the wanted name.
    ///
    /// Changes a name that is not allowed, and appends the first free suffix `_2`, `_3`, … to a
    /// taken name.
    mutating func claim(_ wanted: String) -> String {
        let base = allowed(Self.printable(wanted))
        var name = base
        var number = 1
        while !taken.insert(Self.folded(name)).inserted {
            number += 1
            name = "\(base)_\(number)"
        }
        return name
    }

    /// Returns an allowed name that is short enough for a suffix to follow.
    private func allowed(_ wanted: String) -> String {
        let byteCount = dialect.maximumIdentifierByteCount - 8
        let base = Self.prefix(of: wanted, byteCount: byteCount)
        guard isReserved(base) else { return base.isEmpty ? "x" : base }
        let prefixed = Self.prefix(of: "x_" + base, byteCount: byteCount)
        guard isReserved(prefixed) else { return prefixed }
        // A prefix does not help if the dialect reserves names by their ends.
        return Self.prefix(of: prefixed, byteCount: byteCount - 2) + "_x"
    }

    private func isReserved(_ name: String) -> Bool {
        if let reservedPrefix, Self.folded(name).starts(with: reservedPrefix) { return true }
        return dialect.isReserved(name)
    }

    /// Returns the UTF-8 bytes of a name with ASCII letters in lower case.
    ///
    /// Databases may treat names as equal if these bytes are equal. The bytes do not depend on a
    /// Unicode version.
    private static func folded(_ name: String) -> [UInt8] {
        name.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
    }

    /// Returns the text with an underscore instead of each control character.
    ///
    /// In some databases, U+0000 would end a statement.
    private static func printable(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) else { return text }
        return String(
            String.UnicodeScalarView(text.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? "_" : $0 }))
    }

    private static func prefix(of text: String, byteCount: Int) -> String {
        guard text.utf8.count > byteCount else { return text }
        var result = String.UnicodeScalarView()
        var count = 0
        for scalar in text.unicodeScalars {
            count += String(scalar).utf8.count
            guard count <= byteCount else { break }
            result.append(scalar)
        }
        return String(result)
    }
}
