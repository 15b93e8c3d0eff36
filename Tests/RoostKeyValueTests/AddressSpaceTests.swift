import RoostCore

#if LMDB
    @testable import RoostLMDB
    import Testing

    @Suite("Address space of LMDB maps")
    struct AddressSpaceTests {
        @Test(
            "an LMDB map that exceeds the address space is refused", arguments: [1 << 47, 1 << 60, Int.max])
        func refusesTooLargeMap(byteCount: Int) {
            let error = #expect(throws: StoreError.self) {
                try AddressSpace.requireRoom(byteCount, forMapOf: "store")
            }
            #expect(error?.code == .outOfResources)
        }

        @Test("repeated checks of the room for an LMDB map consume no address space")
        func acceptsFittingMap() throws {
            for _ in 0..<1000 { try AddressSpace.requireRoom(1 << 30, forMapOf: "store") }
            try AddressSpace.requireRoom(0, forMapOf: "store")
        }
    }
#endif
