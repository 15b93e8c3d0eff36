internal import Roost
internal import RoostCore
internal import RoostMigration

extension Subcommand {
    static let info = Subcommand(
        name: "info", summary: "Show the content of a store in numbers, and its model.", usage: "STORE",
        argumentCount: 1...1,
        discussion: """
            With --json prints one object: type, path, uuid, formatVersion, capabilities [name], model {entities [{name,
            superentity, isAbstract, versionHash}], versionHashRecipe (which recipe of MODEL-FORMAT.md gives the hashes),
            versionIdentifiers [text]}, entities [{name, count}] (objects of the entity itself, without those of subentities),
            links [{relationship, count}], digest, bytes, metadataKeys [text], notices [text] (parts of the file that are read as
            null or left out), libraries [{name, version, warning}] (the libraries for this type of store). Later versions may add
            fields. Without --json, --verbose shows notices and libraries.

            The digest comes from the last commit, or is computed if the type does not record one. 'roost check' compares it with
            the content.
            """,
        options: [.json, .verbose] + StoreArguments.openingOptions,
        examples: ["roost info music.sqlite", "roost info lmdb:music.lmdb --json"], run: runInfo)

    @Sendable private static func runInfo(_ arguments: ParsedArguments, console: Console) throws -> ExitCode {
        let info = try StoreArguments.withStore(arguments.positions[0], arguments: arguments) { try StoreInfo($0) }
        if arguments.has("json") {
            try console.printJSON(info)
        } else {
            try console.print(info.text(isVerbose: arguments.has("verbose")))
        }
        return .success
    }
}

/// The report of `roost info`, whose help describes the fields.
struct StoreInfo: Encodable {
    struct Model: Encodable {
        struct Entity: Encodable {
            var name: String
            var superentity: String?
            var isAbstract: Bool
            var versionHash: String
        }

        var entities: [Entity]
        var versionHashRecipe: Int
        var versionIdentifiers: [String]
    }

    var type: String
    var path: String
    var uuid: String
    var formatVersion: Int
    var capabilities: [String]
    var model: Model
    var entities: [EntityCount]
    var links: [RelationshipCount]
    var digest: String
    var bytes: Int
    var metadataKeys: [String]
    var notices: [String]
    var libraries: [StoreLibrary]

    init(_ store: any PersistentStore) throws {
        let metadata = try store.metadata()
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        let tally = try snapshot.recordedTally() ?? snapshot.computeTally()
        type = store.location.type
        path = store.location.path
        uuid = metadata.storeUUID.description
        formatVersion = metadata.formatVersion
        capabilities = store.type.capabilities.names
        model = Model(
            entities: store.model.entities.map { entity in
                Model.Entity(
                    name: entity.name.text, superentity: entity.superentity.map { store.model.entities[$0].name.text },
                    isAbstract: entity.isAbstract, versionHash: entity.versionHash.description)
            }, versionHashRecipe: metadata.versionHashRecipe.rawValue,
            versionIdentifiers: store.model.versionIdentifiers)
        entities = zip(store.model.entities, tally.entities).map { EntityCount(name: $0.name.text, count: $1.count) }
        links = zip(store.model.relationships, tally.relationships).filter { $0.0.ownsLinks }
            .map { RelationshipCount(relationship: $0.name.description, count: $1.count) }
        digest = tally.digest.description
        bytes = try store.byteCount()
        metadataKeys = metadata.userMetadata.keys.sorted()
        do throws(StoreError) { notices = try store.notices() } catch {
            guard error.code == .corrupted else { throw error }
            notices = [error.message]
        }
        libraries = store.type.libraries
    }

    func text(isVerbose: Bool) -> String {
        var table = TextTable([("", .leading), ("", .leading)])
        table.append(["type", "\(type), format \(formatVersion)"])
        table.append(["path", path])
        table.append(["uuid", uuid])
        table.append(["digest", digest])
        table.append(["bytes", ByteCountText.text(bytes)])
        table.append(["capabilities", capabilities.joined(separator: ", ")])
        if !metadataKeys.isEmpty { table.append(["metadata", metadataKeys.joined(separator: ", ")]) }
        if isVerbose {
            for library in libraries {
                table.append(["library", "\(library.name) \(library.version)"])
                if let warning = library.warning { table.append(["warning", warning]) }
            }
            for notice in notices { table.append(["notice", notice]) }
        }
        var counts = TextTable([("entity", .leading), ("objects", .trailing)])
        for entity in entities { counts.append([entity.name, "\(entity.count)"]) }
        var text = table.description.drop(while: \.isNewline) + "\n\n" + counts.description
        if !links.isEmpty {
            var counts = TextTable([("relationship", .leading), ("links", .trailing)])
            for entry in links { counts.append([entry.relationship, "\(entry.count)"]) }
            text += "\n\n" + counts.description
        }
        return String(text)
    }
}
