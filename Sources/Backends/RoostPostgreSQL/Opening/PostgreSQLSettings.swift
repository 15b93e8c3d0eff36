#if PostgreSQL
    internal import RoostCore

    /// The validated options of the store type `postgresql`.
    struct PostgreSQLSettings: Sendable {
        var connectTimeout: Duration = .seconds(15)
        var responseTimeout: Duration = .seconds(600)
        /// The maximum numbers of connections for reading and for writing.
        var readerCount = 50
        var writerCount = 16
        /// The requested profile; nil if the existing store or the server determines the profile.
        let wantedProfile: PostgreSQLProfile?
        var profile: PostgreSQLProfile
        let timeoutSeconds: Double
        let isReadOnly: Bool
        let isUnpublished: Bool

        static let optionDescriptions = [
            StoreOptionDescription(
                "connectTimeoutSeconds", values: .number(0.1...3600), standard: "15",
                summary: "The maximum time to wait for a connection, in seconds."),
            StoreOptionDescription(
                "responseTimeoutSeconds", values: .number(0.1...1e6), standard: "600",
                summary:
                    "The maximum time to wait for the answer to a statement, in seconds. Building an index is one statement."
            ),
            StoreOptionDescription(
                "readerConnections", values: .integer(1...1000), standard: "50",
                summary: "The maximum number of connections of an open store for reading: one for each open snapshot."),
            StoreOptionDescription(
                "profile", values: .words(PostgreSQLProfile.allCases.map(\.rawValue)), standard: "that of the server",
                summary:
                    "The server features that a new store uses: all of PostgreSQL, or only the features that distributed databases with PostgreSQL's protocol also have."
            ),
        ]

        /// Throws `invalidRequest` for an unknown name or an invalid value.
        init(_ options: StoreOptions) throws(StoreError) {
            timeoutSeconds = options.timeoutSeconds
            isReadOnly = options.isReadOnly
            isUnpublished = options.isUnpublished
            try options.requireValidTimeout()
            let given = options.typeOptions
            try PostgreSQLStoreType().requireKnown(given)
            if let seconds = given["connectTimeoutSeconds"].flatMap({ Double($0) }) {
                connectTimeout = .seconds(seconds)
            }
            if let seconds = given["responseTimeoutSeconds"].flatMap({ Double($0) }) {
                responseTimeout = .seconds(seconds)
            }
            readerCount = given["readerConnections"].flatMap { Int($0) } ?? readerCount
            wantedProfile = given["profile"].flatMap { PostgreSQLProfile(rawValue: $0) }
            profile = wantedProfile ?? .postgresql
        }

        /// The maximum time to wait for locks of other programs.
        var timeout: Duration { .seconds(max(0.001, min(timeoutSeconds, 1e9))) }

        /// The ``timeout`` in milliseconds, at least 1, because the server would treat 0 as no
        /// limit.
        var lockTimeout: Int { Int(max(1, min(timeoutSeconds * 1000, 2e9)).rounded(.up)) }

        /// The isolation level of transactions that write.
        var isolation: String { profile == .portable ? "serializable" : "read committed" }

        func requireProfile(_ found: PostgreSQLProfile, of location: PostgreSQLLocation) throws(StoreError) {
            guard let wantedProfile, wantedProfile != found else { return }
            throw StoreError(
                .invalidRequest,
                "The store '\(location.name)' was created with the profile '\(found.rawValue)', not '\(wantedProfile.rawValue)'. Omit the option, or convert the store into a new one."
            )
        }
    }
#endif
