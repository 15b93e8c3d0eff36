public import RoostCore

/// The rows of `_roost_metadata`, which describe a store.
public enum SQLMetadata {
    /// Creates all tables and indexes of a schema, and inserts the rows of an empty store.
    public static func create(
        _ schema: SQLSchema, uuid: StoreUUID, userMetadata: [String: MetadataValue], on connection: any SQLConnection
    ) throws(StoreError) {
        try makeTables(of: schema, on: connection)
        try fill(schema, uuid: uuid, userMetadata: userMetadata, on: connection)
    }

    package static func makeTables(of schema: SQLSchema, on connection: any SQLConnection) throws(StoreError) {
        for item in schema.items { try connection.execute(item.sql) }
    }

    /// Inserts the rows of an empty store.
    package static func fill(
        _ schema: SQLSchema, uuid: StoreUUID, userMetadata: [String: MetadataValue], on connection: any SQLConnection
    ) throws(StoreError) {
        try setVersion(of: schema, connection: connection)
        if schema.hasHistory {
            try setHistorySettings(try HistorySettings(after: .initial).bytes, connection: connection, schema: schema)
        }
        try set("storeUUID", value: .text(uuid.description), connection: connection, schema: schema)
        try set(
            "model", value: .text(String(decoding: schema.model.document(), as: UTF8.self)), connection: connection,
            schema: schema)
        try setUserMetadata(userMetadata, connection: connection, schema: schema)
        try SQLTallies.setPlaces(of: schema, generation: .initial, mark: SQLTallies.mark(of: uuid), on: connection)
        try insertRows(of: schema, on: connection)
    }

    static func setVersion(of schema: SQLSchema, connection: any SQLConnection) throws(StoreError) {
        try set("formatVersion", value: .integer(Int64(schema.formatVersion)), connection: connection, schema: schema)
        if schema.hasHistory {
            try set("features", value: .text("history"), connection: connection, schema: schema)
        } else {
            try connection.run("DELETE FROM _roost_metadata WHERE name = 'features'")
        }
    }

    /// Prevents other writers from changing the user's metadata until this transaction ends.
    static func lockUserMetadata(_ writer: SQLWriter, storeName: String) throws(StoreError) {
        guard writer.locks != nil else { return }
        let sql = writer.locking("SELECT 1 FROM _roost_metadata WHERE name = '\(userRow)'", lock: .change)
        guard try writer.connection.integer(sql) != nil else {
            throw damaged(storeName, reason: "its metadata '\(userRow)' are missing")
        }
    }

    private static let userRow = "user"

    static func historySettings(
        _ connection: any SQLConnection, storeName: String, schema: SQLSchema
    ) throws(StoreError) -> [UInt8]? {
        guard
            case .text(let text)? = try value(
                "history", connection: connection, storeName: storeName, formatVersion: schema.formatVersion)
        else {
            return nil
        }
        return Array(text.utf8)
    }

    static func setHistorySettings(
        _ bytes: [UInt8]?, connection: any SQLConnection, schema: SQLSchema
    ) throws(StoreError) {
        guard let bytes else { return try connection.run("DELETE FROM _roost_metadata WHERE name = 'history'") }
        try set("history", value: .text(String(decoding: bytes, as: UTF8.self)), connection: connection, schema: schema)
    }

    /// Replaces the model, entities, tallies and keys by those of an empty store with the given
    /// schema.
    ///
    /// Keeps the generation and the mark.
    static func change(to schema: SQLSchema, on connection: any SQLConnection) throws(StoreError) {
        for table in ["_roost_entities", "_roost_keys"] { try connection.run("DELETE FROM \(table)") }
        try connection.run(
            "DELETE FROM _roost_tallies WHERE kind <> \(schema.dialect.parameter(1))",
            .text(SQLTallyKind.generation.rawValue))
        try set(
            "model", value: .text(String(decoding: schema.model.document(), as: UTF8.self)), connection: connection,
            schema: schema)
        try insertRows(of: schema, on: connection)
        // The old history identifies entities by their numbers in the old model, so a new history begins.
        let history = SQLHistory(connection: connection, schema: schema, storeName: "")
        guard let tally = try SQLTallies.generationAndMark(connection) else { return }
        try HistoryMaintenance.beginAnew(
            at: Generation(number: UInt64(bitPattern: tally.generation)), in: history)
    }

    /// Inserts an empty store's rows of entities, tallies and last keys.
    private static func insertRows(of schema: SQLSchema, on connection: any SQLConnection) throws(StoreError) {
        let entity = "INSERT INTO _roost_entities (number, name) VALUES (\(parameters(2, dialect: schema.dialect)))"
        for description in schema.model.entities {
            try connection.run(entity, .integer(Int64(description.number)), .text(description.name.text))
        }
        for entity in schema.model.entities {
            try SQLTallies.insert(.entity, number: entity.number, of: schema, on: connection)
        }
        for relationship in schema.model.linkRelationships {
            try SQLTallies.insert(.relationship, number: relationship.number, of: schema, on: connection)
        }
        for root in schema.model.roots {
            try SQLStore.setLastKey(0, root: root, connection: connection, schema: schema)
        }
    }

    /// Reads the identity and the model from a database's metadata.
    ///
    /// `formatVersion` is the version in the database's header; nil for a database without a
    /// header.
    ///
    /// - Throws: `notAStore` if the metadata is missing, `unsupportedVersion` if the format is not
    ///   supported, `corrupted` if the metadata is damaged.
    public static func read(
        _ connection: any SQLConnection, storeName: String, formatVersion known: Int? = nil
    ) throws(StoreError) -> (uuid: StoreUUID, model: ManagedObjectModel) {
        // Databases without a header never had the older format, whose metadata has no checksums.
        let formatVersion = known ?? SQLSchema.formatVersion
        let version: Int64
        switch try value("formatVersion", connection: connection, storeName: storeName, formatVersion: formatVersion) {
        case .integer(let number): version = number
        case .text(let text): version = Int64(text) ?? -1
        default: throw StoreError(.notAStore, "'\(storeName)' has no metadata of a Roost store.")
        }
        try SQLSchema.requireFormat(Int(clamping: version), of: storeName)
        guard Int(clamping: version) == formatVersion else {
            throw damaged(storeName, reason: "its metadata and its header name different versions of the format")
        }
        if formatVersion >= SQLSchema.featureVersion {
            guard
                case .text(let features)? = try value(
                    "features", connection: connection, storeName: storeName, formatVersion: formatVersion)
            else {
                throw damaged(storeName, reason: "its metadata 'features' are missing")
            }
            try RequiredFeatures(features.utf8).require(in: storeName)
        }
        guard
            case .text(let uuidText)? = try value(
                "storeUUID", connection: connection, storeName: storeName, formatVersion: formatVersion),
            let uuid = StoreUUID(uuidText),
            case .text(let document)? = try value(
                "model", connection: connection, storeName: storeName, formatVersion: formatVersion)
        else { throw damaged(storeName, reason: "the identity or the model in its metadata is missing") }
        do throws(StoreError) {
            return (uuid, try ManagedObjectModel(document: Array(document.utf8)))
        } catch {
            throw StoreError(
                .corrupted, "The model in '\(storeName)' cannot be read. Restore the store from a backup.",
                underlying: error)
        }
    }

    /// Throws `corrupted` if the entity names in a database differ from the model's entity names.
    ///
    /// In metadata without checksums, this detects an exchanged model.
    public static func requireEntities(
        of schema: SQLSchema, on connection: any SQLConnection, storeName: String
    ) throws(StoreError) {
        var found: [Int64: String] = [:]
        try connection.withStatement("SELECT number, name FROM _roost_entities") { (statement) throws(StoreError) in
            while try statement.step() {
                guard case .text(let name) = try statement.value(at: 1) else { continue }
                found[try statement.integer(at: 0)] = name
            }
        }
        let entities = schema.model.entities
        guard found.count == entities.count, entities.allSatisfy({ found[Int64($0.number)] == $0.name.text }) else {
            throw damaged(storeName, reason: "its model and its table '_roost_entities' name different entities")
        }
    }

    static func userMetadata(
        _ connection: any SQLConnection, storeName: String, schema: SQLSchema
    ) throws(StoreError) -> [String: MetadataValue] {
        guard
            case .text(let text)? = try value(
                userRow, connection: connection, storeName: storeName, formatVersion: schema.formatVersion)
        else {
            throw damaged(storeName, reason: "the user's metadata are missing")
        }
        return try MetadataDocument.decode(Array(text.utf8))
    }

    static func setUserMetadata(
        _ metadata: [String: MetadataValue], connection: any SQLConnection, schema: SQLSchema
    ) throws(StoreError) {
        try set(
            userRow, value: .text(String(decoding: try MetadataDocument.encode(metadata), as: UTF8.self)),
            connection: connection, schema: schema)
    }

    /// Writes one row, with a checksum if the format has checksums.
    private static func set(
        _ name: String, value: SQLValue, connection: any SQLConnection, schema: SQLSchema
    ) throws(StoreError) {
        let hasChecksum = schema.formatVersion >= 3
        let upsert = SQLUpsert(
            into: "_roost_metadata", key: ["name"], columns: hasChecksum ? ["value", "checksum"] : ["value"],
            dialect: schema.dialect)
        var stored = value
        if schema.dialect.anyType == nil, case .integer(let number) = value { stored = .text(String(number)) }
        try upsert.run(
            [.text(name), stored] + (hasChecksum ? [.integer(checksum(name, value: value))] : []), on: connection)
    }

    private static func checksum(_ name: String, value: SQLValue) -> Int64 {
        let text =
            switch value {
            case .text(let text): text
            case .integer(let number): String(number)
            default: ""
            }
        return SQLChecksum.row("metadata", name: name, value: text)
    }

    private static func value(
        _ name: String, connection: any SQLConnection, storeName: String, formatVersion: Int
    ) throws(StoreError) -> SQLValue? {
        let hasChecksum = formatVersion >= 3
        // The name is a constant in this file, so it needs no escaping.
        let sql = "SELECT value\(hasChecksum ? ", checksum" : "") FROM _roost_metadata WHERE name = '\(name)'"
        return try connection.withStatement(sql) { (statement) throws(StoreError) -> SQLValue? in
            guard try statement.step() else { return nil }
            let value = try statement.value(at: 0)
            if hasChecksum, try statement.integer(at: 1) != checksum(name, value: value) {
                throw damaged(storeName, reason: "its metadata '\(name)' do not match their checksum")
            }
            return value
        }
    }

    static func parameters(_ count: Int, dialect: any SQLDialect) -> String {
        (1...count).map { dialect.parameter($0) }.joined(separator: ", ")
    }

    private static func damaged(_ storeName: String, reason: String) -> StoreError {
        StoreError(.corrupted, "'\(storeName)' is damaged: \(reason). Restore it from a backup.")
    }
}

/// The kinds of rows in `_roost_tallies`.
enum SQLTallyKind: String {
    /// A row for each writer place.
    ///
    /// The counts of these rows add up to the generation. The column `sum` of each row contains the
    /// store's mark, which never changes.
    case generation
    /// Rows for each entity, at most one for each writer place.
    case entity
    /// Rows for each relationship that owns links, at most one for each writer place.
    case relationship
}
