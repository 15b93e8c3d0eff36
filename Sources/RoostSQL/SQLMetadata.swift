public import RoostCore

/// The rows of `_roost_metadata`: what a store says about itself.
public enum SQLMetadata {
    /// Makes all tables of a schema and the rows that an empty store has.
    public static func create(
        _ schema: SQLSchema, uuid: StoreUUID, userMetadata: [String: MetadataValue], on connection: any SQLConnection
    ) throws(StoreError) {
        for item in schema.items { try connection.execute(item.sql) }
        let insert = "INSERT INTO _roost_metadata (name, value) VALUES (\(parameters(2, schema.dialect)))"
        try connection.run(insert, .text("formatVersion"), .integer(Int64(SQLSchema.formatVersion)))
        try connection.run(insert, .text("storeUUID"), .text(uuid.description))
        try connection.run(insert, .text("model"), .text(String(decoding: schema.model.document(), as: UTF8.self)))
        try setUserMetadata(userMetadata, connection, schema.dialect)
        try connection.run(
            "INSERT INTO _roost_tallies (kind, number, count, sum) VALUES (\(parameters(2, schema.dialect)), 0, \(schema.dialect.parameter(3)))",
            .text(SQLTallyKind.generation.rawValue), .integer(0), .integer(SQLTallies.mark(of: uuid)))
        try insertRows(of: schema, connection)
    }

    /// Makes the rows about a database those of an empty one with another schema; generation and mark stay.
    static func change(to schema: SQLSchema, on connection: any SQLConnection) throws(StoreError) {
        for table in ["_roost_entities", "_roost_keys"] { try connection.run("DELETE FROM \(table)") }
        try connection.run(
            "DELETE FROM _roost_tallies WHERE kind <> \(schema.dialect.parameter(1))",
            .text(SQLTallyKind.generation.rawValue))
        try connection.run(
            schema.dialect.upsert(into: "_roost_metadata", key: ["name"], columns: ["value"]), .text("model"),
            .text(String(decoding: schema.model.document(), as: UTF8.self)))
        try insertRows(of: schema, connection)
    }

    /// The rows about entities, relationships and keys of an empty database.
    private static func insertRows(of schema: SQLSchema, _ connection: any SQLConnection) throws(StoreError) {
        let entity = "INSERT INTO _roost_entities (number, name) VALUES (\(parameters(2, schema.dialect)))"
        for description in schema.model.entities {
            try connection.run(entity, .integer(Int64(description.number)), .text(description.name.text))
        }
        let tally =
            "INSERT INTO _roost_tallies (kind, number, count, sum) VALUES (\(parameters(2, schema.dialect)), 0, 0)"
        for entity in schema.model.entities {
            try connection.run(tally, .text(SQLTallyKind.entity.rawValue), .integer(Int64(entity.number)))
        }
        for relationship in schema.model.linkRelationships {
            try connection.run(
                tally, .text(SQLTallyKind.relationship.rawValue), .integer(Int64(relationship.number)))
        }
        let key = "INSERT INTO _roost_keys (entity, last) VALUES (\(parameters(1, schema.dialect)), 0)"
        for root in schema.model.roots { try connection.run(key, .integer(Int64(root))) }
    }

    /// What a database says it holds: its format version, identity and model.
    ///
    /// - Throws: `notAStore` when there are no metadata, `unsupportedVersion` for another format, `corrupted` for anything odd.
    public static func read(
        _ connection: any SQLConnection, storeName: String
    ) throws(StoreError) -> (uuid: StoreUUID, model: ManagedObjectModel) {
        guard case .integer(let version)? = try value("formatVersion", connection) else {
            throw StoreError(.notAStore, "'\(storeName)' has no metadata of a Roost store.")
        }
        try SQLSchema.requireFormat(Int(clamping: version), of: storeName)
        guard case .text(let uuidText)? = try value("storeUUID", connection),
            let uuid = StoreUUID(uuidText),
            case .text(let document)? = try value("model", connection)
        else { throw damaged(storeName, "the identity or the model in its metadata is missing") }
        do throws(StoreError) {
            return (uuid, try ManagedObjectModel(document: Array(document.utf8)))
        } catch {
            throw StoreError(.corrupted, "The model that is kept in '\(storeName)' cannot be read.", underlying: error)
        }
    }

    /// The user's metadata.
    public static func userMetadata(
        _ connection: any SQLConnection, storeName: String
    ) throws(StoreError) -> [String: MetadataValue] {
        guard case .text(let text)? = try value("user", connection) else {
            throw damaged(storeName, "the user's metadata are missing")
        }
        return try MetadataDocument.decode(Array(text.utf8))
    }

    static func setUserMetadata(
        _ metadata: [String: MetadataValue], _ connection: any SQLConnection, _ dialect: any SQLDialect
    ) throws(StoreError) {
        let text = String(decoding: try MetadataDocument.encode(metadata), as: UTF8.self)
        try connection.run(
            dialect.upsert(into: "_roost_metadata", key: ["name"], columns: ["value"]), .text("user"), .text(text))
    }

    private static func value(_ name: String, _ connection: any SQLConnection) throws(StoreError) -> SQLValue? {
        // The name is one of four constants of this file.
        try connection.withStatement("SELECT value FROM _roost_metadata WHERE name = '\(name)'") {
            (statement) throws(StoreError) -> SQLValue? in
            guard try statement.step() else { return nil }
            return try statement.value(at: 0)
        }
    }

    static func parameters(_ count: Int, _ dialect: any SQLDialect) -> String {
        (1...count).map { dialect.parameter($0) }.joined(separator: ", ")
    }

    private static func damaged(_ storeName: String, _ reason: String) -> StoreError {
        StoreError(.corrupted, "'\(storeName)' is damaged: \(reason). Restore it from a backup.")
    }
}

/// What the rows of `_roost_tallies` count.
enum SQLTallyKind: String {
    /// One row; its count is the generation, its sum the store's mark, which never changes.
    case generation
    /// A row for each entity.
    case entity
    /// A row for each relationship that owns links.
    case relationship
}
