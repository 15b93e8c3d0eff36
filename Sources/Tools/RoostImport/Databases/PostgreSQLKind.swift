internal import RoostCore

#if PostgreSQL
    /// The kind of a column's values, which the server sends as text.
    enum PostgreSQLKind {
        case boolean, integer, real, float, decimal, date, uuid, bytes, text
    }

    struct PostgreSQLType {
        var kind: PostgreSQLKind
        var declaredType: DeclaredType
        /// Whether the type treats some different texts as equal.
        var isFolding = false
        /// Phrases for the user about what is not kept.
        var remarks: [String] = []

        /// Reads a type; `base` is the name of the type, or of a domain's base type.
        init(_ name: String, base: String, isBuiltIn: Bool, isDomain: Bool) {
            (kind, declaredType) = (.text, .text)
            if isDomain { remarks.append("the rules of domain \(name) are left out") }
            guard isBuiltIn else {
                if base == "citext" {
                    isFolding = true
                    remarks.append("texts are compared with their case, unlike in type \(name)")
                } else {
                    remarks.append("type \(name) is kept as text")
                }
                return
            }
            switch base {
            case "bool": (kind, declaredType) = (.boolean, .boolean)
            case "int2": (kind, declaredType) = (.integer, .integer16)
            case "int4": (kind, declaredType) = (.integer, .integer32)
            case "int8", "oid": (kind, declaredType) = (.integer, .integer)
            case "float4": (kind, declaredType) = (.float, .float)
            case "float8": (kind, declaredType) = (.real, .real)
            case "numeric": (kind, declaredType) = (.decimal, .decimal)
            case "date", "timestamptz": (kind, declaredType) = (.date, .date)
            case "timestamp": (kind, declaredType) = (.date, .time)
            case "uuid": (kind, declaredType) = (.uuid, .uuid)
            case "bytea": (kind, declaredType) = (.bytes, .blob)
            case "text", "varchar", "bpchar", "name", "char": break
            default: remarks.append("type \(name) is kept as text")
            }
        }
    }

    /// Reads the dates of a server with `DateStyle` ISO and the time zone UTC.
    enum PostgreSQLDate {
        /// Returns the seconds from 2001-01-01 to a date in the years 1 to 9999.
        ///
        /// Returns nil for other texts, such as `infinity` and `0044-03-15 BC`.
        static func read(_ bytes: UnsafeRawBufferPointer) -> (seconds: Double, isExact: Bool)? {
            var rest = bytes[...]
            func number(_ count: Int) -> Int? {
                guard rest.count >= count else { return nil }
                var number = 0
                for byte in rest.prefix(count) {
                    let digit = byte &- UInt8(ascii: "0")
                    guard digit < 10 else { return nil }
                    number = number * 10 + Int(digit)
                }
                rest = rest.dropFirst(count)
                return number
            }
            func take(_ byte: UInt8) -> Bool {
                guard rest.first == byte else { return false }
                rest = rest.dropFirst()
                return true
            }
            let (dash, colon) = (UInt8(ascii: "-"), UInt8(ascii: ":"))
            guard let year = number(4), year > 0, take(dash), let month = number(2), take(dash), let day = number(2),
                let midnight = DateText.seconds(year: year, month: month, day: day)
            else { return nil }
            if rest.isEmpty { return (midnight, true) }
            guard take(UInt8(ascii: " ")), let hour = number(2), hour < 24, take(colon), let minute = number(2),
                minute < 60, take(colon), let second = number(2), second < 60
            else { return nil }
            var microseconds = 0
            if take(UInt8(ascii: ".")) {
                var scale = 100_000
                while scale > 0, let digit = number(1) {
                    microseconds += digit * scale
                    scale /= 10
                }
            }
            if take(UInt8(ascii: "+")) { guard number(2) == 0 else { return nil } }
            guard rest.isEmpty else { return nil }
            let whole = Int(midnight) + hour * 3600 + minute * 60 + second
            guard microseconds > 0 else { return (Double(whole), true) }
            // Below 2^33 seconds, different microseconds are different `Double` values.
            return (Double(whole * 1_000_000 + microseconds) / 1_000_000, abs(whole) < 1 << 33)
        }
    }

    extension SchemaLiteral {
        /// Reads the expression of a DEFAULT clause, as the server shows it.
        ///
        /// Returns nil for an expression that is neither a literal nor a cast literal.
        init?(postgreSQL text: String, type: PostgreSQLType) {
            guard let content = Self.uncast(text) else { return nil }
            switch type.kind {
            case .boolean:
                guard content == "true" || content == "false" else { return nil }
                self = .boolean(content == "true")
            case .integer, .real, .float, .decimal:
                guard DecimalNumber(utf8: content.utf8) != nil, !content.hasPrefix("N") else { return nil }
                self = .number(content)
            case .date:
                let date = Array(content.utf8).withUnsafeBytes { PostgreSQLDate.read($0) }
                guard let date, let text = DateText.text(date.seconds) else { return nil }
                self = .text(text)
            case .bytes:
                guard content.hasPrefix("\\x"), let bytes = SchemaText.bytes(ofHexadecimal: content.utf8.dropFirst(2))
                else { return nil }
                self = .blob(bytes)
            case .uuid, .text: self = .text(content)
            }
        }

        /// Returns the content of a literal with any number of casts, such as `'a'::text`, or nil
        /// for any other expression.
        private static func uncast(_ text: String) -> String? {
            let bytes = Array(text.utf8)
            let quote = UInt8(ascii: "'")
            let hasEscapes = bytes.starts(with: "E'".utf8)
            guard hasEscapes || bytes.first == quote else {
                // A number or a truth value, such as 5, (-1), 0::bigint or true.
                let end = text.firstRange(of: "::")?.lowerBound ?? text.endIndex
                var plain = text[..<end]
                if plain.hasPrefix("("), plain.hasSuffix(")") { plain = plain.dropFirst().dropLast() }
                let isLiteral = plain == "true" || plain == "false" || DecimalNumber(utf8: plain.utf8) != nil
                return isLiteral && isCast(text[end...].utf8) ? String(plain) : nil
            }
            var (content, place): ([UInt8], Int) = ([], hasEscapes ? 2 : 1)
            while place < bytes.count {
                let next = place + 1 < bytes.count ? bytes[place + 1] : 0
                if bytes[place] == quote {
                    guard next == quote else {
                        return isCast(bytes[(place + 1)...]) ? String(decoding: content, as: UTF8.self) : nil
                    }
                    place += 1
                } else if hasEscapes, bytes[place] == UInt8(ascii: "\\") {
                    guard next == UInt8(ascii: "\\") else { return nil }
                    place += 1
                }
                content.append(bytes[place])
                place += 1
            }
            return nil
        }

        /// Returns whether a text is empty or has casts only.
        private static func isCast(_ text: some Sequence<UInt8>) -> Bool {
            let text = Array(text)
            guard !text.isEmpty else { return true }
            // No operator contains these characters, so a text that begins with `::` has only casts.
            let isName = text.allSatisfy { byte in
                byte >= 0x80 || byte == UInt8(ascii: "_") || "0123456789:. \"(),[]".utf8.contains(byte)
                    || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
            }
            return isName && text.starts(with: "::".utf8)
        }
    }
#endif
