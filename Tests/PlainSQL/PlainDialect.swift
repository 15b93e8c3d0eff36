#if SQLite
    import RoostSQL

    /// A dialect for SQLite with only the required members; everything else is standard SQL.
    struct PlainDialect: SQLDialect {
        /// The maximum of PostgreSQL.
        var maximumIdentifierByteCount: Int { 63 }
        var maximumColumnCount: Int { 900 }
        var maximumParameterCount: Int { 900 }

        func quote(_ identifier: String) -> String { "\"" + identifier.replacing("\"", with: "\"\"") + "\"" }
        func parameter(_ position: Int) -> String { "?\(position)" }

        var integerType: String { "BIGINT" }
        var textType: String { "TEXT" }
        var blobType: String { "BLOB" }
        /// A blob, because numbers of the type DOUBLE would lose the sign of −0.0.
        var floatingType: String { "BLOB" }
    }
#endif
