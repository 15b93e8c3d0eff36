import RoostCore
import RoostFiles
import RoostSQL
import RoostSQLite
import Testing

@Suite("Names of SQLite tables")
struct NameTests {
    private let directory: TemporaryDirectory
    private let type = SQLiteStoreType()

    init() throws { directory = try TemporaryDirectory() }

    @Test(
        "an entity can have the name of a table that its store needs later",
        arguments: ["_roost_history", "_Roost_History", "_roost_unflushed"])
    func keepsNamesOfSystemTables(name: String) throws {
        let unflushed = StoreOptions(typeOptions: ["synchronous": "normal"])
        let store = try type.create(directory.location("a"), model: try Models.note(name), options: unflushed)
        try store.change { try $0.insert(ObjectID(EntityName(name), key: 1), values: ["text": "first"]) }
        try store.close()
        let following = try type.open(directory.location("a"), options: unflushed.with { $0.tracksHistory = true })
        try following.change { try $0.insert(ObjectID(EntityName(name), key: 2), values: ["text": "second"]) }
        #expect(try following.records(EntityName(name)).map { try $0.value("text") } == ["first", "second"])
        #expect(try following.findings() == [])
        try following.close()
    }

    @Test("a table of format 2 keeps a name that later formats reserve", arguments: [2, 3])
    func keepsNamesOfFormat(formatVersion: Int) throws {
        let schema = try SQLSchema(
            try Models.note("_roost_unflushed"), dialect: SQLiteDialect(), formatVersion: formatVersion)
        #expect(schema.tables.map(\.name) == [formatVersion == 2 ? "_roost_unflushed" : "x__roost_unflushed"])
    }
}
