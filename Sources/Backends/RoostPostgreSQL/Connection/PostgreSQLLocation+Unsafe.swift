#if PostgreSQL
    internal import CPostgreSQL
    internal import Foundation
    internal import RoostCore

    /// The location of a store: a database on a server, and a schema in the database.
    ///
    /// The path of a location has one of two forms:
    ///
    /// - `//user@host:5432/database?schema=music`
    /// - parameters of libpq: `host=db.example.org dbname=app schema=music`
    ///
    /// As usual with libpq, environment variables provide missing parameters.
    struct PostgreSQLLocation: Sendable {
        /// The default schema.
        static let standardSchema = "roost"
        /// The default schema of a database of another program.
        static let foreignSchema = "public"
        /// The maximum size of a new store's schema name, in bytes, except for temporary names.
        private static let longestSchema = 38
        /// The separator in a temporary schema name, between the store's schema name and a number.
        static let temporaryMark = "~roost~"

        let parameters: [(key: String, value: String)]
        let schema: String
        let namesSchema: Bool
        /// The location for messages, without a password.
        let name: String
        /// The path without a schema.
        private let base: String
        private let isURI: Bool

        /// Reads the path of a location.
        ///
        /// - Throws: `invalidRequest` if the path or its schema is invalid, or the path has a
        ///   password.
        init(_ path: String) throws(StoreError) { try self.init(path, isForeign: false) }

        /// Reads the path of another program's database, whose schema can have any unreserved name.
        ///
        /// - Throws: As ``init(_:)``.
        init(foreign path: String) throws(StoreError) { try self.init(path, isForeign: true) }

        private init(_ path: String, isForeign: Bool) throws(StoreError) {
            guard !path.utf8.contains(0) else { throw Self.malformed("it has a character U+0000") }
            // The path of `postgresql:///database` has only one slash, because its first two slashes were removed.
            let path = path.hasPrefix("/") && !path.hasPrefix("//") ? "//" + path : path
            isURI = path.hasPrefix("//")
            let found: String?
            (base, found) = try isURI ? Self.schema(ofURI: path) : Self.schema(ofParameters: path)
            let schema = found ?? (isForeign ? Self.foreignSchema : Self.standardSchema)
            self.schema = schema
            namesSchema = found != nil
            let parameters = try Self.parse(isURI ? "postgresql:" + base : base)
            self.parameters = parameters
            guard !schema.isEmpty, !schema.hasPrefix("pg_"), schema != "information_schema",
                schema.utf8.count <= 63, isForeign || !schema.unicodeScalars.contains(where: Self.isControl)
            else {
                throw Self.malformed(
                    isForeign
                        ? "its schema belongs to the server, is empty, or has more than 63 bytes"
                        : "a schema has 1 to \(Self.longestSchema) bytes and no control characters, and does not begin with 'pg_'"
                )
            }
            // libpq may read a database name with '@', '=' or '://' as a connection string, which
            // may contain a password.
            let isPlain = parameters.allSatisfy { parameter in
                parameter.key != "dbname"
                    || !parameter.value.contains { "@=".contains($0) } && !parameter.value.contains("://")
            }
            guard isPlain else { throw Self.malformed("the name of its database has '@', '=' or '://'") }
            guard !parameters.contains(where: { $0.key == "password" || $0.key == "sslpassword" }) else {
                throw StoreError(
                    .invalidRequest,
                    "The location of a \(isForeign ? "database" : "store") in PostgreSQL must not have a password, because locations are shown; set PGPASSWORD, or write it into ~/.pgpass or a service file."
                )
            }
            func parameter(_ key: String) -> String? { parameters.first { $0.key == key }?.value }
            let host = parameter("host") ?? parameter("hostaddr") ?? ""
            let database = parameter("dbname") ?? parameter("service").map { "service \($0)" } ?? ""
            let shown = String(String.UnicodeScalarView(schema.unicodeScalars.map { Self.isControl($0) ? "?" : $0 }))
            name = "postgresql://\(host)/\(database)?schema=\(shown)"
        }

        private static func isControl(_ scalar: Unicode.Scalar) -> Bool { scalar.value < 0x20 || scalar.value == 0x7F }

        /// Throws `invalidRequest` unless a new store can use the schema name.
        ///
        /// If `isTemporary` is true, the name may be temporary.
        func requireCreatable(isTemporary: Bool = false) throws(StoreError) {
            if isTemporary, schema.contains(Self.temporaryMark) { return }
            guard schema.utf8.count <= Self.longestSchema else {
                throw Self.malformed("the schema of a new store has at most \(Self.longestSchema) bytes")
            }
            guard !schema.contains(Self.temporaryMark), schema != "public" else {
                throw Self.malformed(
                    "a new store cannot have the schema 'public', or a name with '\(Self.temporaryMark)', which temporary stores have"
                )
            }
        }

        func hasParameters(of other: PostgreSQLLocation) -> Bool {
            parameters.count == other.parameters.count
                && zip(parameters, other.parameters).allSatisfy { $0.key == $1.key && $0.value == $1.value }
        }

        /// Returns the path of another schema in the same database.
        func path(schema: String) -> String {
            guard isURI else {
                let value = schema.replacing("\\", with: "\\\\").replacing("'", with: "\\'")
                return (base.isEmpty ? "" : base + " ") + "schema='\(value)'"
            }
            var allowed = CharacterSet.alphanumerics
            allowed.insert(charactersIn: "-._~")
            let value = schema.addingPercentEncoding(withAllowedCharacters: allowed) ?? schema
            return base + (base.contains("?") ? "&" : "?") + "schema=" + value
        }

        /// Returns a temporary schema name for a store that is not yet published or will be
        /// removed.
        ///
        /// The first half of its number is the time in seconds since 1970.
        func temporarySchema() -> String {
            let seconds = UInt64(max(0, Date().timeIntervalSince1970)) & 0xFFFF_FFFF
            return temporaryPrefix + Self.digits(seconds << 32 | .random(in: 0...0xFFFF_FFFF))
        }

        /// Returns the seconds since a temporary schema name was made; 0 for other names.
        static func secondsSinceMaking(_ schema: String) -> Double {
            guard let mark = schema.firstRange(of: temporaryMark),
                let seconds = UInt32(schema[mark.upperBound...].prefix(8), radix: 16)
            else { return 0 }
            return Date().timeIntervalSince1970 - Double(seconds)
        }

        /// Returns whether a schema name is a temporary name of this store.
        func isTemporary(_ other: String) -> Bool {
            guard other.hasPrefix(temporaryPrefix) else { return false }
            let digits = other.dropFirst(temporaryPrefix.count)
            return digits.utf8.count == 16 && digits.utf8.allSatisfy { "0123456789abcdef".utf8.contains($0) }
        }

        /// The schema name without the part that makes it temporary, if any.
        var publishedSchema: String {
            String(schema[..<(schema.firstRange(of: Self.temporaryMark)?.lowerBound ?? schema.endIndex)])
        }

        func backupSchema() -> String { "\(schema).backup-\(Self.digits(.random(in: .min ... .max)))" }

        private static func digits(_ number: UInt64) -> String {
            let number = String(number, radix: 16)
            return String(repeating: "0", count: 16 - number.utf8.count) + number
        }

        private var temporaryPrefix: String { publishedSchema + Self.temporaryMark }

        private static func malformed(_ reason: String) -> StoreError {
            StoreError(
                .invalidRequest,
                "Cannot read the location in PostgreSQL: \(reason). Write postgresql://user@host/database?schema=name, or postgresql:host=… dbname=… schema=…."
            )
        }

        // MARK: Reading

        private static func schema(ofURI path: String) throws(StoreError) -> (String, String?) {
            guard let mark = path.firstIndex(of: "?") else { return (path, nil) }
            var schema: String?
            var others: [Substring] = []
            for item in path[path.index(after: mark)...].split(separator: "&", omittingEmptySubsequences: false) {
                guard item.hasPrefix("schema=") else {
                    others.append(item)
                    continue
                }
                guard schema == nil, let text = String(item.dropFirst("schema=".count)).removingPercentEncoding else {
                    throw malformed("its schema cannot be read")
                }
                schema = text
            }
            let rest = String(path[..<mark])
            return (others.isEmpty || others == [""] ? rest : rest + "?" + others.joined(separator: "&"), schema)
        }

        /// Separates `schema` from a list of `key = value` pairs, quoted as in libpq.
        private static func schema(ofParameters text: String) throws(StoreError) -> (String, String?) {
            var schema: String?
            var others: [Substring] = []
            var rest = text[...]
            while true {
                rest = rest.drop { $0.isWhitespace }
                guard !rest.isEmpty else { break }
                let start = rest.startIndex
                guard let equals = rest.firstIndex(of: "=") else { throw malformed("a parameter has no '='") }
                let key = rest[..<equals].filter { !$0.isWhitespace }
                rest = rest[rest.index(after: equals)...].drop { $0.isWhitespace }
                var value = ""
                let isQuoted = rest.first == "'"
                if isQuoted { rest.removeFirst() }
                var isClosed = !isQuoted
                while let next = rest.first {
                    if isQuoted ? next == "'" : next.isWhitespace {
                        if isQuoted { rest.removeFirst() }
                        isClosed = true
                        break
                    }
                    rest.removeFirst()
                    if next == "\\", let escaped = rest.first {
                        rest.removeFirst()
                        value.append(escaped)
                    } else {
                        value.append(next)
                    }
                }
                guard isClosed else { throw malformed("a quoted value has no end") }
                if key == "schema" {
                    guard schema == nil else { throw malformed("it has two schemas") }
                    schema = value
                } else {
                    others.append(text[start..<rest.startIndex])
                }
            }
            return (others.joined(separator: " "), schema)
        }

        private static func parse(_ text: String) throws(StoreError) -> [(key: String, value: String)] {
            var message: UnsafeMutablePointer<CChar>?
            guard let options = PQconninfoParse(text, &message) else {
                // libpq's message quotes the part that it cannot read, which may be a password.
                if let message { PQfreemem(message) }
                throw malformed("libpq cannot read it")
            }
            defer { PQconninfoFree(options) }
            var parameters: [(key: String, value: String)] = []
            var next = options
            while let keyword = next.pointee.keyword {
                if let value = next.pointee.val {
                    parameters.append((String(cString: keyword), String(cString: value)))
                }
                next += 1
            }
            return parameters
        }
    }
#endif
