#if Macros
    import RoostModels
    import Testing

    @testable import RoostExpansion
    @testable import RoostModelCode

    @Suite("Models of types")
    struct ModelTypeTests {
        enum OneSide {
            @Model final class Album: ManagedObject {
                @Relationship(inverse: "albums") var artist: Artist?
            }
            @Model class Party: ManagedObject {
                var albums: ToMany<Album>
            }
            @Model final class Artist: Party {
                var name: String?
            }
        }

        enum Wrong {
            @Model final class Album: ManagedObject {
                @Relationship(inverse: "records") var artist: Artist?
                @Relationship(inverse: "nothing") var guests: ToMany<Artist>
            }
            @Model final class Artist: ManagedObject {
                var name: String?
            }
        }

        @Test("the other side of an inverse follows, also in a superclass")
        func inverses() throws {
            let model = try ManagedObjectModel(types: [OneSide.Artist.self, OneSide.Album.self, OneSide.Party.self])
            let party = try model.requireEntity("Party").declaration
            #expect(party.relationships.map(\.inverseName) == ["artist"])
        }

        @Test("a class that is missing in the list is an error that names it")
        func missing() {
            let error = #expect(throws: StoreError.self) { try ManagedObjectModel(types: [OneSide.Album.self]) }
            #expect(error?.code == .invalidModel && error?.message.contains("'Artist'") == true)
            let other = #expect(throws: StoreError.self) { try ManagedObjectModel(types: [OneSide.Artist.self]) }
            #expect(other?.message.contains("'Party'") == true)
        }

        @Test("a class that was generated has no description")
        func generated() {
            let error = #expect(throws: StoreError.self) { try ManagedObjectModel(types: LibraryModel.types) }
            #expect(error?.code == .invalidModel && error?.message.contains("is not a @Model class") == true)
        }

        @Test("all problems of the model are listed")
        func problems() {
            let error = #expect(throws: StoreError.self) {
                try ManagedObjectModel(types: [Wrong.Album.self, Wrong.Artist.self])
            }
            #expect(error?.message.contains("Album.artist") == true && error?.message.contains("Album.guests") == true)
        }

        @Test("the same names are refused as by the generator")
        func names() {
            #expect(ModelPropertySyntax.reservedNames == ModelNames.managedObjectMembers.union(["self"]))
        }
    }
#endif
