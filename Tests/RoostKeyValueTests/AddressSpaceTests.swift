import RoostCore

#if LMDB
    @testable import RoostLMDB
    import Testing

    @Suite("Room for the map of an LMDB file")
    struct AddressSpaceTests {
        @Test(
            "a map that does not fit beside what the program needs is refused", arguments: [1 << 47, 1 << 60, Int.max])
        func tooLarge(byteCount: Int) {
            let error = #expect(throws: StoreError.self) {
                try AddressSpace.requireRoom(byteCount, forMapOf: "store")
            }
            #expect(error?.code == .outOfResources)
        }

        @Test("a map that fits is not, and looking costs no address space")
        func fits() throws {
            for _ in 0..<1000 { try AddressSpace.requireRoom(1 << 30, forMapOf: "store") }
            try AddressSpace.requireRoom(0, forMapOf: "store")
        }
    }
#endif
