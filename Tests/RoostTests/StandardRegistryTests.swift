import Roost
import RoostCore
import RoostMigration
import RoostStores
import Testing

@Suite("The standard registry")
struct StandardRegistryTests {
    @Test("managers made without a registry use the standard one")
    func oneRegistry() {
        #expect(MigrationManager().registry === StoreRegistry.standard)
        #expect(StoreMaintenance().registry === StoreRegistry.standard)
        let names = StoreRegistry.standard.all.map(\.name)
        #expect(names == ["sqlite", "lmdb", "json", "memory", "postgresql", "coredata"].filter(names.contains))
        #expect(names.contains("json") && names.contains("memory"))
    }

    @Test(
        "a built-in type's location has the type's registered name",
        arguments: [
            (.sqlite("a"), "sqlite:a"), (.lmdb("b"), "lmdb:b"), (.json("c"), "json:c"), (.memory, "memory:"),
            (.memory("d"), "memory:d"), (.coreData("e"), "coredata:e"),
        ] as [(StoreLocation, String)])
    func locations(location: StoreLocation, text: String) throws {
        #expect(location.description == text)
        #expect(try StoreLocation.url(text) == location)
        #if SQLite && LMDB
            #expect(try StoreRegistry.standard.type(named: location.type).name == location.type)
        #endif
    }

    @Test("a text without a store type is refused as a location, with a remedy")
    func textWithoutType() {
        let error = #expect(throws: StoreError.self) { try StoreLocation.url("music.sqlite") }
        #expect(error?.code == .invalidRequest)
        #expect(error?.message.contains("sqlite:music.sqlite") == true)
    }

    @Test("an extension adds the location of a new store type")
    func othersType() {
        func type(of location: StoreLocation) -> String { location.type }
        #expect(type(of: .tape("5")) == "tape")
    }
}

extension StoreLocation {
    fileprivate static func tape(_ number: String) -> StoreLocation { StoreLocation(type: "tape", path: number) }
}
