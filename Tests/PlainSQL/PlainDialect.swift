#if SQLite
    import RoostSQL

    /// The required part of a dialect, for SQLite: everything else is as standard SQL has it.
    struct PlainDialect: SQLDialect {
        /// As PostgreSQL.
        var maximumIdentifierByteCount: Int { 63 }
        var maximumColumnCount: Int { 900 }
        var maximumParameterCount: Int { 900 }

        func quote(_ identifier: String) -> String { "\"" + identifier.replacing("\"", with: "\"\"") + "\"" }
        func parameter(_ position: Int) -> String { "?\(position)" }

        var integerType: String { "BIGINT" }
        var textType: String { "TEXT" }
        var blobType: String { "BLOB" }
        /// Numbers of the type DOUBLE would lose the sign of −0.0.
        var floatingType: String { "BLOB" }
    }
#endif
