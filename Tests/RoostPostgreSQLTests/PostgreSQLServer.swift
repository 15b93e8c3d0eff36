#if PostgreSQL
    import Foundation
    import RoostConformance
    import RoostCore
    import RoostPostgreSQL
    import Testing

    /// The server whose connection parameters are in `ROOST_POSTGRES`.
    ///
    /// `Scripts/postgres start` starts such a server and prints the parameters.
    enum PostgreSQLServer {
        /// The connection parameters; nil without a server.
        static let parameters = ProcessInfo.processInfo.environment["ROOST_POSTGRES"].flatMap { $0.isEmpty ? nil : $0 }

        static let host = parameters?.split(separator: " ").first { $0.hasPrefix("host=") }.map {
            String($0.dropFirst("host=".count))
        }

        static let missing: Comment = "ROOST_POSTGRES names no server; Scripts/postgres start starts one"

        static func location(_ name: String = "store") -> StoreLocation {
            location(in: UUID().uuidString, name: name)
        }

        /// Returns the location of the store `name` in the test run that `directory` identifies.
        static func location(in directory: String, name: String, parameters more: String = "") -> StoreLocation {
            // A hash makes a valid schema name from a name of any length and characters.
            var hash: UInt64 = 0xcbf2_9ce4_8422_2325
            for byte in "\(directory)/\(name)".utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
            return StoreLocation(
                type: "postgresql", path: "\(parameters ?? "") \(more) schema=test_\(String(hash, radix: 16))")
        }

        static func options(_ profile: PostgreSQLProfile, timeoutSeconds: Double = 60) -> StoreOptions {
            StoreOptions(timeoutSeconds: timeoutSeconds, typeOptions: ["profile": profile.rawValue])
        }

        static let fixture = StoreFixture(PostgreSQLStoreType(), peer: .besideTests("PostgreSQLPeer")).with {
            $0.makeLocation = { location(in: $0, name: $1) }
        }

        /// Returns a fixture of stores with the portable profile, which log statements to `log`.
        static func portable(_ log: StatementLog? = nil) -> StoreFixture {
            fixture.with {
                $0.options.typeOptions["profile"] = "portable"
                $0.makeLocation = { location(in: $0, name: $1, parameters: log?.parameters ?? "") }
            }
        }
    }
#endif
