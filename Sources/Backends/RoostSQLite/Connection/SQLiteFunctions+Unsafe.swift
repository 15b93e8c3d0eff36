internal import CSQLite
internal import RoostCore
internal import RoostQuery
internal import RoostSQL

/// The SQL functions that compare text as Roost does.
///
/// They cannot be called from a file's schema, and return null for a value that is not text.
enum SQLiteFunctions {
    /// The function that compares a text with a matcher.
    static let matches = "roost_matches"
    /// The function that returns the sort key of a text; the options are the second argument.
    static let sortKey = "roost_sort_key"

    /// The type name of a pointer to a `StringMatcher`; SQLite compares the text, not the address.
    private static let matcherType: StaticString = "roost_matcher"

    static let hasJSON: Bool =
        sqlite3_libversion_number() >= 3_038_000
        ? sqlite3_compileoption_used("OMIT_JSON") == 0 : sqlite3_compileoption_used("ENABLE_JSON1") != 0

    static func register(on connection: SQLiteConnection) throws(StoreError) {
        let flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY
        // SAFETY: `functionError` lives as long as the connection, and only the connection's
        // statements call the functions.
        try connection.check(
            sqlite3_create_function_v2(
                connection.handle, matches, 2, flags, connection.functionError,
                { SQLiteFunctions.matchText($0, arguments: $2) }, nil, nil, nil), what: "Setting up")
        try connection.check(
            sqlite3_create_function_v2(
                connection.handle, sortKey, 2, flags, nil, { SQLiteFunctions.makeSortKey($0, arguments: $2) }, nil, nil,
                nil),
            what: "Setting up")
    }

    static func bind(_ matcher: StringMatcher, to statement: OpaquePointer, at index: Int32) -> Int32 {
        let type = UnsafeRawPointer(matcherType.utf8Start).assumingMemoryBound(to: CChar.self)
        // SAFETY: the destructor, which SQLite calls in every case, releases the reference retained
        // here. The text of a StaticString ends with a zero byte and exists as long as the program.
        return sqlite3_bind_pointer(
            statement, index, Unmanaged.passRetained(matcher).toOpaque(), type,
            { pointer in if let pointer { Unmanaged<StringMatcher>.fromOpaque(pointer).release() } })
    }

    private static func matchText(
        _ context: OpaquePointer?, arguments: UnsafeMutablePointer<OpaquePointer?>?
    ) {
        // SAFETY: SQLite passes as many arguments as were registered: two.
        guard let text = arguments?[0], sqlite3_value_type(text) == SQLITE_TEXT else {
            return sqlite3_result_null(context)
        }
        let type = UnsafeRawPointer(matcherType.utf8Start).assumingMemoryBound(to: CChar.self)
        guard let pointer = sqlite3_value_pointer(arguments?[1], type) else {
            return sqlite3_result_error_code(context, SQLITE_MISUSE)
        }
        // SAFETY: only `bind` creates pointers of this type, and the statement retains the matcher
        // while it runs.
        let matcher = Unmanaged<StringMatcher>.fromOpaque(pointer).takeUnretainedValue()
        guard let bytes = bytes(of: text) else { return sqlite3_result_error_nomem(context) }
        do throws(StoreError) {
            sqlite3_result_int(context, try matcher.matches(bytes) ? 1 : 0)
        } catch {
            sqlite3_user_data(context)?.assumingMemoryBound(to: StoreError?.self).pointee = error
            sqlite3_result_error_code(context, SQLITE_ABORT)
        }
    }

    private static func makeSortKey(
        _ context: OpaquePointer?, arguments: UnsafeMutablePointer<OpaquePointer?>?
    ) {
        // SAFETY: SQLite passes as many arguments as were registered: two.
        guard let text = arguments?[0], sqlite3_value_type(text) == SQLITE_TEXT else {
            return sqlite3_result_null(context)
        }
        guard let bytes = bytes(of: text) else { return sqlite3_result_error_nomem(context) }
        let options = FetchRequest.Comparison.Options(rawValue: Int(sqlite3_value_int(arguments?[1])))
        TextFolding.withFolded(bytes, by: options) { folded in
            guard options.contains(.localized) else { return give(folded, to: context) }
            var key: [UInt8] = []
            StandardTextOrder.append(folded, to: &key)
            key.withUnsafeBytes { give($0, to: context) }
        }
    }

    private static func give(_ bytes: UnsafeRawBufferPointer, to context: OpaquePointer?) {
        // SQLite copies the bytes. An empty result may have no address, which SQLite would treat as
        // null.
        guard bytes.count > 0 else { return sqlite3_result_zeroblob(context, 0) }
        sqlite3_result_blob64(
            context, bytes.baseAddress, UInt64(bytes.count), unsafeBitCast(-1, to: sqlite3_destructor_type.self))
    }

    /// Returns the bytes, valid until the SQL function returns, or nil if memory is exhausted.
    private static func bytes(of text: OpaquePointer) -> UnsafeRawBufferPointer? {
        // Unlike sqlite3_value_text, this call does not copy the text to add a terminating zero.
        let start = sqlite3_value_blob(text)
        let count = Int(sqlite3_value_bytes(text))
        return start == nil && count > 0 ? nil : UnsafeRawBufferPointer(start: start, count: count)
    }
}
