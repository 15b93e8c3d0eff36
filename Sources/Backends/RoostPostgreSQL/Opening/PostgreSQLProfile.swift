#if PostgreSQL
    internal import RoostCore

    /// The server features that a store uses, chosen when it is created.
    ///
    /// A store with ``portable`` has the table ``PostgreSQLLease/table``.
    package enum PostgreSQLProfile: String, CaseIterable, Sendable {
        /// All of PostgreSQL: advisory locks, row locks, DDL in transactions, NOTIFY, COPY.
        case postgresql
        /// The features that distributed databases with PostgreSQL's protocol also have.
        ///
        /// A store then uses retried `SERIALIZABLE` transactions, and INSERT of several rows.
        case portable

        /// Returns the profile of a store, or nil if the schema has no store.
        static func found(
            _ schema: String, on connection: PostgreSQLConnection
        ) throws(StoreError) -> PostgreSQLProfile? {
            guard try PostgreSQLCatalog.kind(of: schema, on: connection) == .store else { return nil }
            return try PostgreSQLLease.exists(in: schema, on: connection) ? .portable : .postgresql
        }

        static func forServer(of connection: PostgreSQLConnection) throws(StoreError) -> PostgreSQLProfile {
            let version = try connection.query("SELECT version()").text(0, column: 0) ?? ""
            // `CockroachDB CCL v24.1.0 (…)`, `PostgreSQL 15.2-YB-2.25.0.0-b0 on …`.
            return version.hasPrefix("CockroachDB") || version.contains("-YB-") ? .portable : .postgresql
        }
    }
#endif
