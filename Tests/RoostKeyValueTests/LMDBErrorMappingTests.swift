import RoostCore

#if LMDB
    import CLMDB
    @testable import RoostLMDB
    import Testing

    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Darwin)
        import Darwin
    #endif

    @Suite("Errors of LMDB")
    struct LMDBErrorMappingTests {
        @Test(
            "each LMDB or system error maps to its store error code",
            arguments: [
                (MDB_KEYEXIST, StoreError.Code.invalidRequest), (MDB_NOTFOUND, .notAStore),
                (MDB_PAGE_NOTFOUND, .corrupted),
                (MDB_CORRUPTED, .corrupted), (MDB_PANIC, .ioFailure), (MDB_VERSION_MISMATCH, .unsupportedVersion),
                (MDB_INVALID, .notAStore), (MDB_MAP_FULL, .limitExceeded), (MDB_DBS_FULL, .internalInconsistency),
                (MDB_READERS_FULL, .busy), (MDB_TLS_FULL, .outOfResources), (MDB_TXN_FULL, .limitExceeded),
                (MDB_CURSOR_FULL, .corrupted), (MDB_PAGE_FULL, .corrupted), (MDB_MAP_RESIZED, .busy),
                (MDB_INCOMPATIBLE, .notAStore), (MDB_BAD_RSLOT, .internalInconsistency),
                (MDB_BAD_TXN, .internalInconsistency),
                (MDB_BAD_VALSIZE, .limitExceeded), (MDB_BAD_DBI, .internalInconsistency), (-1, .internalInconsistency),
                (ENOSPC, .noSpace), (EACCES, .permissionDenied), (ENOMEM, .outOfResources), (EIO, .ioFailure),
                (EROFS, .readOnly),
            ])
        func mapsError(code: Int32, expected: StoreError.Code) {
            let error = StoreError.lmdb(code, what: "cannot be opened", path: "/store")
            #expect(error.code == expected)
            #expect(error.message.hasPrefix("'/store' cannot be opened: "))
            #expect(error.underlying != nil)
            if code < 0 { #expect((error.underlying as? LMDBError)?.code == code) }
        }

        @Test("each error code of LMDB has a name")
        func namesEachCode() {
            for code in MDB_KEYEXIST...MDB_LAST_ERRCODE {
                #expect((StoreError.lmdb(code, what: "x", path: "/store").underlying as? LMDBError)?.name != "unknown")
            }
        }
    }
#endif
