#if Interactive
    internal import Foundation

    struct HTTPRequest: Sendable {
        /// `GET`, `POST`, `PATCH`, `DELETE` or another method, in upper case.
        var method: String
        /// The parts of the path, decoded, or empty for `/`.
        var segments: [String]
        /// The names and values of the query, decoded, in their order.
        var query: [(name: String, value: String)]
        /// The headers that the server uses, by their names in lower case.
        var headers: [String: String]
        var body: [UInt8] = []
        /// Whether the client sent `HEAD`; ``method`` is then `GET`.
        var isHead = false
        /// Whether the client no longer waits for the response.
        var isAbandoned: @Sendable () -> Bool = { false }

        /// Creates a request, or returns nil for an invalid address.
        init?(_ method: String, address: String, headers: [String: String]) {
            let parts = address.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
            guard let path = parts.first, path.hasPrefix("/") else { return nil }
            (self.method, self.headers) = (method, headers)
            segments = []
            for segment in path.split(separator: "/") {
                guard let text = Self.decoded(segment) else { return nil }
                segments.append(text)
            }
            query = []
            for pair in parts.count > 1 ? parts[1].split(separator: "&") : [] {
                let halves = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                guard let name = Self.decoded(halves[0], isQuery: true),
                    let value = halves.count > 1 ? Self.decoded(halves[1], isQuery: true) : ""
                else { return nil }
                query.append((name, value))
            }
        }

        /// Returns the first value of a name in the query, or nil if the value is missing or empty.
        func value(_ name: String) -> String? {
            query.first { $0.name == name }.flatMap { $0.value.isEmpty ? nil : $0.value }
        }

        /// Returns a whole number in the query, or the default if the query has no value.
        ///
        /// - Throws: A ``ViewerError`` for a text that is not a number in the range.
        func integer(_ name: String, in range: ClosedRange<Int>, default usual: Int) throws(ViewerError) -> Int {
            guard let text = value(name) else { return usual }
            guard let number = Int(text), range.contains(number) else {
                throw ViewerError(
                    .badRequest, message: "'\(name)' must be a number from \(range.lowerBound) to \(range.upperBound).")
            }
            return number
        }

        /// Removes percent encoding, or returns nil if the encoding is invalid or the result
        /// contains a NUL.
        private static func decoded(_ text: Substring, isQuery: Bool = false) -> String? {
            let written = isQuery ? text.replacing("+", with: " ") : text
            guard let decoded = String(written).removingPercentEncoding, !decoded.utf8.contains(0) else { return nil }
            return decoded
        }
    }
#endif
