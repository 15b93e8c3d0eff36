#if SQLite
    import RoostCore
    @testable import RoostSQLite
    import Testing

    @Suite("SQLite library")
    struct LibraryTests {
        @Test("an SQLite library before 3.51.3 has a warning about its version")
        func warnsAboutOldVersion() throws {
            let library = try #require(SQLiteStoreType().libraries.first)
            #expect(library.name == "SQLite" && library.version.hasPrefix("3."))
            #expect(SQLiteStoreType.warning(versionNumber: 3_040_001)?.contains("3.51.3") == true)
            #expect(SQLiteStoreType.warning(versionNumber: 3_051_002) != nil)
            #expect(SQLiteStoreType.warning(versionNumber: 3_051_003) == nil)
        }
    }
#endif
