#if PostgreSQL
    internal import CPostgreSQL
    package import RoostCore
    internal import RoostSQL

    /// The type of stores in a PostgreSQL schema, with tables that other tools can read.
    ///
    /// ``optionDescriptions`` lists the options; FORMAT.md describes every table and every
    /// guarantee.
    package struct PostgreSQLStoreType: ServerStoreType {
        package init() {}

        package var name: String { "postgresql" }

        /// All capabilities except files and ordered generations.
        ///
        /// Generations have no order because commits are concurrent.
        package var capabilities: StoreCapabilities {
            StoreCapabilities(
                .writing, .persistence, .multipleProcesses, .digest, .uniquenessConstraints, .fetchIndexes,
                .history)
        }

        package var optionDescriptions: [StoreOptionDescription] { PostgreSQLSettings.optionDescriptions }

        package var libraries: [StoreLibrary] {
            let version = Int(PQlibVersion())
            return [StoreLibrary(name: "libpq", version: "\(version / 10_000).\(version % 10_000)")]
        }

        /// The costs of a read and a write, measured with a server on the same machine.
        package var estimatedCosts: StoreCosts { StoreCosts(readingMicroseconds: 3, writingMicroseconds: 8) }

        /// Returns false, because no file is a store of this type.
        package func recognizes(fileAt path: String) -> Bool { false }

        package func open(_ location: StoreLocation, options: StoreOptions) throws(StoreError) -> any PersistentStore {
            try PostgreSQLOpening(location, options: options).open(type: self, place: location)
        }

        /// Creates a store in a schema that is empty or does not exist.
        package func create(
            _ location: StoreLocation, model: ManagedObjectModel, options: StoreOptions
        ) throws(StoreError) -> any PersistentStore {
            let opening = try PostgreSQLOpening(location, options: options)
            try opening.create(model)
            return try opening.open(type: self, place: location)
        }

        /// Drops the tables and the schema of a store.
        package func destroy(_ location: StoreLocation) throws(StoreError) {
            let place = try PostgreSQLLocation(location.path)
            let connection = try PostgreSQLConnection(place, settings: try PostgreSQLSettings(StoreOptions()))
            defer { connection.close() }
            try PostgreSQLRemoval.remove(place.schema, on: connection)
        }

        /// Renames the source's schema and removes the replaced store, in one transaction.
        package func replace(
            _ destination: StoreLocation, with source: StoreLocation, overwriting: Bool
        ) throws(StoreError) {
            let (new, old) = (try PostgreSQLLocation(destination.path), try PostgreSQLLocation(source.path))
            guard !new.schema.utf8.elementsEqual(old.schema.utf8) else {
                throw StoreError(.invalidRequest, "'\(new.name)' cannot be replaced with itself.")
            }
            try new.requireCreatable()
            let connection = try PostgreSQLConnection(new, settings: try PostgreSQLSettings(StoreOptions()))
            defer { connection.close() }
            try requireSameDatabase(new, connection: connection, other: old)
            try PostgreSQLRemoval.replace(new, with: old, overwriting: overwriting, on: connection)
        }

        private func requireSameDatabase(
            _ location: PostgreSQLLocation, connection: PostgreSQLConnection, other: PostgreSQLLocation
        ) throws(StoreError) {
            guard !location.hasParameters(of: other) else { return }
            guard try PostgreSQLProfile.forServer(of: connection) == .postgresql else {
                throw StoreError(
                    .invalidRequest,
                    "Cannot determine whether '\(other.name)' and '\(location.name)' are in one database. Write both locations with the same parameters."
                )
            }
            func identity(_ connection: PostgreSQLConnection) throws(StoreError) -> String? {
                try connection.query(
                    "SELECT oid || ' ' || pg_postmaster_start_time() FROM pg_database WHERE datname = current_database()"
                ).text(0, column: 0)
            }
            let second = try PostgreSQLConnection(other, settings: try PostgreSQLSettings(StoreOptions()))
            defer { second.close() }
            guard let own = try identity(connection), try identity(second) == own else {
                throw StoreError(
                    .invalidRequest,
                    "'\(other.name)' and '\(location.name)' are in two databases. Convert the store instead.")
            }
        }

        package func backupLocation(beside location: StoreLocation) throws(StoreError) -> StoreLocation {
            let place = try PostgreSQLLocation(location.path)
            // The name of the backup must fit without truncation.
            try place.requireCreatable()
            return StoreLocation(type: name, path: place.path(schema: place.backupSchema()))
        }

        /// Renames the source's schema, and renames or removes the replaced store, in one
        /// transaction.
        package func replace(
            _ destination: StoreLocation, at generation: Generation, with source: StoreLocation,
            keepingAs backup: StoreLocation?
        ) throws(StoreError) {
            let (new, old) = (try PostgreSQLLocation(destination.path), try PostgreSQLLocation(source.path))
            let kept = if let backup { try PostgreSQLLocation(backup.path) } else { PostgreSQLLocation?.none }
            let connection = try PostgreSQLConnection(new, settings: try PostgreSQLSettings(StoreOptions()))
            defer { connection.close() }
            try requireSameDatabase(new, connection: connection, other: old)
            try PostgreSQLRemoval.replace(
                new, with: old, expecting: (generation, kept), overwriting: true, on: connection)
        }

        package func temporaryLocation(beside location: StoreLocation) throws(StoreError) -> StoreLocation {
            let place = try PostgreSQLLocation(location.path)
            return StoreLocation(type: name, path: place.path(schema: place.temporarySchema()))
        }
    }
#endif
