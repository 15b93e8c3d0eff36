import Roost

/// A program that imports `Roost` alone: it opens, commits, fetches, converts and migrates.
@main struct Program {
    static func main() throws {
        guard CommandLine.arguments.count == 2 else {
            throw StoreError(.invalidRequest, "usage: Program DIRECTORY")
        }
        let directory = CommandLine.arguments[1]
        let sqlite = StoreLocation.sqlite("\(directory)/people.sqlite")

        // Create a store with the first version of the model, and commit two objects.
        let first = try ManagedObjectModel(entities: [person(attributes: [.string("name"), .integer32("born")])])
        let store = try StoreRegistry.standard.create(sqlite, model: first)
        let keys = try store.reserveKeys(2, for: "Person")
        var changes = ChangeSet(model: first)
        for (key, (name, born)) in zip(keys, [("Ada", 1815), ("Grace", 1906)]) {
            try changes.insert(
                ObjectID("Person", key: key), values: ["name": .string(name), "born": .int(Int64(born))])
        }
        _ = try store.commit(changes)
        try print(names(in: store, before: 1900))
        try store.close()

        // Convert the store to a JSON store.
        let json = StoreLocation.json("\(directory)/people.json")
        let report: ConversionReport = try MigrationManager().convert(from: .location(sqlite), to: .location(json))
        print("converted \(report.objects) objects")

        // The second version of the model adds an attribute.
        let second = try ManagedObjectModel(entities: [
            person(attributes: [.string("name"), .integer32("born"), .string("note")])
        ])
        let migrated = try MigrationManager().openOrCreateStore(
            PersistentStoreDescription(json, options: StoreOptions(model: second)),
            ifIncompatible: .migrate(MigrationOptions()))
        try print(names(in: migrated, before: 2000))
        print("attributes: \(try migrated.model.requireEntity("Person").attributes.count)")
        try migrated.close()
    }

    private static func person(attributes: [AttributeDescription]) -> EntityDescription {
        EntityDescription("Person", attributes: attributes)
    }

    private static func names(in store: any PersistentStore, before year: Int64) throws -> String {
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        let request = FetchRequest("Person", where: try .init(format: "born < %@", year), sortedBy: [.init("name")])
        let cursor = try snapshot.fetch(request)
        var batch = RecordBatch(model: store.model)
        var names: [String] = []
        while try cursor.next(into: &batch) {
            for index in 0..<batch.count {
                if case .string(let name) = try batch.value("name", at: index) { names.append(name) }
            }
        }
        return names.joined(separator: " ")
    }
}
