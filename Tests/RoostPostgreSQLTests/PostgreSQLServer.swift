#if PostgreSQL
    import Foundation
    import RoostConformance
    import RoostCore
    import RoostPostgreSQL
    import Testing

    /// The server that `ROOST_POSTGRES` names, as `Scripts/postgres start` prints it.
    enum PostgreSQLServer {
        /// The parameters of its connections; nil without a server.
        static let parameters = ProcessInfo.processInfo.environment["ROOST_POSTGRES"].flatMap { $0.isEmpty ? nil : $0 }

        /// The directory of its socket.
        static let host = parameters?.split(separator: " ").first { $0.hasPrefix("host=") }.map {
            String($0.dropFirst("host=".count))
        }

        /// The reason for which tests are left out.
        static let missing: Comment = "ROOST_POSTGRES names no server; Scripts/postgres start starts one"

        /// A store with a name that no other test has.
        static func location(_ name: String = "store") -> StoreLocation {
            location(in: UUID().uuidString, name)
        }

        /// The store of a name in a run of a check.
        static func location(in directory: String, _ name: String, parameters more: String = "") -> StoreLocation {
            // A name of any length and with any characters becomes one that a schema can have.
            var hash: UInt64 = 0xcbf2_9ce4_8422_2325
            for byte in "\(directory)/\(name)".utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
            return StoreLocation(
                type: "postgresql", path: "\(parameters ?? "") \(more) schema=test_\(String(hash, radix: 16))")
        }

        /// The options of a store that is created with a profile.
        static func options(_ profile: PostgreSQLProfile, timeoutSeconds: Double = 60) -> StoreOptions {
            StoreOptions(timeoutSeconds: timeoutSeconds, typeOptions: ["profile": profile.rawValue])
        }

        static let fixture = StoreFixture(PostgreSQLStoreType(), peer: .besideTests("PostgreSQLPeer")).with {
            $0.makeLocation = { location(in: $0, $1) }
        }

        /// Stores with the portable profile, whose statements go to a log.
        static func portable(_ log: StatementLog? = nil) -> StoreFixture {
            fixture.with {
                $0.options.typeOptions["profile"] = "portable"
                $0.makeLocation = { location(in: $0, $1, parameters: log?.parameters ?? "") }
            }
        }
    }
#endif
