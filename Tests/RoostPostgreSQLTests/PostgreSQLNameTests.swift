#if PostgreSQL
    import RoostCore
    import RoostPostgreSQL
    import RoostSQL
    import Testing

    @Suite("Names of PostgreSQL tables and indexes")
    struct PostgreSQLNameTests {
        @Test(
            "no table or index of a model has a reserved name",
            arguments: [
                "Track_pkey", "pg_class", "pg_class_pkey", "xmin", "_roost_commits", "_ROOST_openings",
                "_roost_commits_pkey", String(repeating: "n", count: 50) + "_pkey and more",
                String(repeating: "n", count: 48) + "_pkey_pkey",
            ])
        func reserved(name: String) throws {
            var description = EntityDescription(name, attributes: [AttributeDescription(name, type: .string)])
            description.fetchIndexes = [FetchIndexDescription("by", on: name)]
            let dialect = PostgreSQLDialect()
            let schema = try SQLSchema(try ManagedObjectModel(entities: [description]), dialect: dialect)
            #expect(schema.tables.count == 1 && schema.indexes.count == 1)
            for item in schema.tables + schema.indexes {
                #expect(!dialect.isReserved(item.name) && !item.name.lowercased().hasPrefix("_roost_"))
                #expect(item.name.utf8.count <= dialect.maximumIdentifierByteCount)
            }
        }
    }
#endif
