#if SQLite
    import CampaignSupport
    import Foundation
    import Roost
    import Testing

    /// Damage to pages, the compressed model and property lists of Core Data stores.
    ///
    /// The normal run tries a few files. `ROOST_CAMPAIGN_COREDATA` sets their number.
    @Suite("Damaged Core Data stores", .serialized)
    struct CoreDataCampaignTests {
        @Test("reading a damaged Core Data store never crashes or blocks, and never changes the file")
        func damage() throws {
            let cache = AppleStore.hex(deflateStored(sampleArchive()))
            var sql = """
                CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB); INSERT INTO Z_MODELCACHE VALUES (\(cache));
                CREATE TABLE ZANIMAL (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCOUNT INTEGER, ZLIVES INTEGER,
                    ZOWNER INTEGER, Z_FOK_OWNER INTEGER, ZBORN TIMESTAMP, ZWEIGHT DECIMAL, ZNAME VARCHAR, ZPHOTO BLOB);
                CREATE TABLE ZOWNER (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZTOTAL INTEGER);

                """
            for key in 1...60 {
                sql +=
                    "INSERT INTO ZANIMAL VALUES (\(key), 2, 1, \(key % 10), 1, \(key % 9 + 1), \(key * 16), \(key * 1000).25, \(key).5, 'animal \(key)', x'0142');\n"
                if key < 10 { sql += "INSERT INTO ZOWNER VALUES (\(key), 3, 1, \(key));\n" }
            }
            let files = try AppleStore(
                ["Animal", "Cat < Animal", "Owner"],
                metadata: [
                    ("NSStoreModelVersionIdentifiers", .array([.string("1")])), ("number", .int(5)),
                    ("when", .date(1.5)),
                ],
                sql: sql)
            files.close()
            let seed = CampaignNumbers.seed
            let count = CampaignNumbers.count("ROOST_CAMPAIGN_COREDATA", usually: 40)
            let results = DamageCampaign(type: "coredata", base: files.path, count: count, seed: seed).run()
            print(results.table("damage of coredata, ROOST_CAMPAIGN_SEED=\(seed)"))
            #expect(results.failures == [])
            #expect(results.count == count)
            #expect(results.crashes == [])
            #expect(results.hangs == [])
            #expect(results.remarks["changed", default: []] == [], "reading changed the file, seed \(seed)")
            #expect(results.remarks.keys.filter { $0.hasPrefix("left:") } == [], "files were left, seed \(seed)")
            #expect(results.trials.count { $0.hitsLive } > count / 3)
        }
    }
#endif
