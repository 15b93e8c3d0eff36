internal import RoostCore
internal import RoostJSONText
internal import RoostText

extension DumpHeader {
    init(from tokens: inout JSONTokenReader) throws(StoreError) {
        try Self.requireDump(&tokens)
        var (uuid, model, metadata): (StoreUUID?, ManagedObjectModel?, [String: MetadataValue]?)
        var entities: [String]?
        var lastKeys: [String: Int64]?
        var hasVersion = false
        while try tokens.nextKey() {
            switch tokens.index(in: DumpFormat.headerKeys) {
            case 1:
                try Self.requireVersion(&tokens)
                hasVersion = true
            case 2:
                try tokens.expect(.string, "the UUID of the store")
                uuid = StoreUUID(tokens.text)
                if uuid == nil { throw tokens.mismatch("a UUID") }
            case 3: entities = try Self.names(&tokens)
            case 4: lastKeys = try Self.keys(&tokens)
            case 5: model = try Self.model(&tokens)
            case 6: metadata = try Self.metadata(&tokens)
            default: throw tokens.error("the first line has a key that no dump of this version has")
            }
        }
        guard hasVersion, let uuid, let model, let metadata, let lastKeys else {
            throw tokens.error(
                "the first line of a dump needs \"formatVersion\", \"storeUUID\", \"lastKeys\", \"model\" and \"metadata\""
            )
        }
        (storeUUID, self.model, userMetadata) = (uuid, model, metadata)
        self.lastKeys = [:]
        for (name, key) in lastKeys {
            guard let entity = model.entity(EntityName(name)), entity.superentity == nil else {
                throw tokens.error("\"lastKeys\" names an entity that is not a root entity of the model")
            }
            self.lastKeys[entity.name] = key
        }
        guard let entities else {
            scope = DumpScope(model, entities: nil)
            return
        }
        var included = Array(repeating: false, count: model.entities.count)
        for name in entities {
            guard let entity = model.entity(EntityName(name)) else {
                throw tokens.error("\"entities\" names an entity that the model does not have")
            }
            included[entity.number] = true
        }
        // A scope includes all subentities of its entities, so a list that omits a subentity is an error.
        scope = DumpScope(model, entities: model.entities.filter { included[$0.number] })
        guard scope.entityNames.count == included.count(where: { $0 }) else {
            throw tokens.error("\"entities\" names an entity without the entities that inherit from it")
        }
    }

    /// Reads the beginning of a dump, `{"format": "roost-dump"`.
    private static func requireDump(_ tokens: inout JSONTokenReader) throws(StoreError) {
        let isDump: Bool
        do throws(StoreError) { isDump = try readFormat(&tokens) } catch {
            guard error.code == tokens.errorCode else { throw error }
            throw error.withMessage(
                "\(error.message) A dump that 'roost dump' wrote is expected.", code: .notAStore)
        }
        guard !isDump else { return }
        guard tokens.token != .end else {
            throw StoreError(.notAStore, "\(tokens.name) is empty; a dump that 'roost dump' wrote is expected.")
        }
        throw tokens.error("this is not a dump that 'roost dump' wrote", code: .notAStore)
    }

    private static func readFormat(_ tokens: inout JSONTokenReader) throws(StoreError) -> Bool {
        guard try tokens.next() == .beginObject, try tokens.nextKey(), tokens.index(in: DumpFormat.headerKeys) == 0,
            try tokens.next() == .string
        else { return false }
        return tokens.text == DumpFormat.name
    }

    private static func requireVersion(_ tokens: inout JSONTokenReader) throws(StoreError) {
        _ = try tokens.next()
        guard let version = tokens.integer, version > 0 else { throw tokens.mismatch("the version of the format") }
        guard version <= DumpFormat.version else {
            throw tokens.error(
                "the dump has format version \(version), and this program reads up to \(DumpFormat.version); use a newer program",
                code: .unsupportedVersion)
        }
    }

    private static func names(_ tokens: inout JSONTokenReader) throws(StoreError) -> [String] {
        try tokens.expect(.beginArray, "a list of entities")
        var names: [String] = []
        while try tokens.nextElement() {
            guard tokens.token == .string else { throw tokens.mismatch("the name of an entity") }
            names.append(tokens.text)
        }
        return names
    }

    private static func keys(_ tokens: inout JSONTokenReader) throws(StoreError) -> [String: Int64] {
        try tokens.expect(.beginObject, "the last keys by entity, an object,")
        var keys: [String: Int64] = [:]
        while try tokens.nextKey() {
            let name = tokens.text
            _ = try tokens.next()
            guard let key = tokens.integer, key > 0 else { throw tokens.mismatch("a key, a whole number above 0,") }
            keys[name] = key
        }
        return keys
    }

    private static func model(_ tokens: inout JSONTokenReader) throws(StoreError) -> ManagedObjectModel {
        let document = try tokens.captureValue(byteCountLimit: DumpFormat.headerByteCountLimit)
        do throws(StoreError) { return try ManagedObjectModel(document: document) } catch {
            throw error.withMessage(tokens.error("the model cannot be used: \(error.message)").message)
        }
    }

    private static func metadata(_ tokens: inout JSONTokenReader) throws(StoreError) -> [String: MetadataValue] {
        let document = try tokens.captureValue(byteCountLimit: DumpFormat.headerByteCountLimit)
        do throws(StoreError) { return try MetadataDocument.decode(document) } catch {
            throw error.withMessage(tokens.error("the metadata cannot be used: \(error.message)").message)
        }
    }
}
