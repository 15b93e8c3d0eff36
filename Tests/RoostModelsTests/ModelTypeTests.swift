#if Macros
    import Foundation
    import RoostModels
    import Testing

    @testable import RoostExpansion
    @testable import RoostModelCode

    @Suite("Models made from @Model types")
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

        enum Unencodable {
            @Model final class Scale: ManagedObject {
                var limits: [Double] = [Double.infinity]
                var steps: [Double] = [1]
            }
        }

        enum Names {
            typealias Title = String
            typealias Count = Int32
            enum Level: Int16, Codable { case low = 1, high = 2 }
            struct Style: OptionSet, Codable, Sendable { let rawValue: Int64 }

            @Model final class Entry: ManagedObject {
                var title: Title?
                var count: Count = 3
                var level: Level?
                var style: Style = []
                var words: [String: [Int?]] = ["a": [1, nil]]
                var text = "a \(1 + 1)"
                var note = -5
            }
        }

        @Test("an inverse that only one side names is also set on the other side, even in a superclass")
        func inverses() throws {
            let model = try ManagedObjectModel(types: [OneSide.Artist.self, OneSide.Album.self, OneSide.Party.self])
            let party = try model.requireEntity("Party").declaration
            #expect(party.relationships.map(\.inverseName) == ["artist"])
        }

        @Test("making a model from types throws an error that names a missing class")
        func missing() {
            let error = #expect(throws: StoreError.self) { try ManagedObjectModel(types: [OneSide.Album.self]) }
            #expect(error?.code == .invalidModel && error?.message.contains("'Artist'") == true)
            let other = #expect(throws: StoreError.self) { try ManagedObjectModel(types: [OneSide.Artist.self]) }
            #expect(other?.message.contains("'Party'") == true)
        }

        @Test("a model of types refuses generated classes")
        func generated() {
            let error = #expect(throws: StoreError.self) { try ManagedObjectModel(types: LibraryModel.types) }
            #expect(error?.code == .invalidModel && error?.message.contains("is not a @Model class") == true)
        }

        @Test("one error lists all problems of a model of types")
        func problems() {
            let error = #expect(throws: StoreError.self) {
                try ManagedObjectModel(types: [Wrong.Album.self, Wrong.Artist.self])
            }
            #expect(error?.message.contains("Album.artist") == true && error?.message.contains("Album.guests") == true)
        }

        @Test("a model of types refuses an initial value that has no JSON form")
        func unencodable() {
            let error = #expect(throws: StoreError.self) { try ManagedObjectModel(types: [Unencodable.Scale.self]) }
            #expect(error?.code == .invalidModel && error?.message.contains("Scale.limits: ") == true)
            #expect(error?.message.contains("Scale.steps") == false)
        }

        @Test("a property whose type only the compiler can resolve gets the matching attribute type")
        func compilerTypes() throws {
            let types: [any ManagedObjectClass.Type] = [Names.Entry.self]
            let model = try ManagedObjectModel(types: types)
            let attributes = try model.requireEntity("Entry").declaration.attributes
            let expected: [String: (type: AttributeType, isOptional: Bool, value: Value)] = [
                "title": (.string, true, .null), "count": (.integer32, false, .int(3)),
                "level": (.integer16, true, .null),
                "style": (.integer64, false, .int(0)), "text": (.string, false, .string("a 2")),
                "words": (.transformable, false, .data(Data(#"{"a":[1,null]}"#.utf8))),
                "note": (.integer64, false, .int(-5)),
            ]
            #expect(attributes.count == expected.count)
            for attribute in attributes {
                let wanted = try #require(expected[attribute.name])
                #expect((attribute.type, attribute.isOptional, attribute.defaultValue) == wanted)
            }
        }

        @Test("properties whose types only the compiler can resolve are saved and read back")
        func savedCompilerTypes() throws {
            let types: [any ManagedObjectClass.Type] = [Names.Entry.self]
            let model = try ManagedObjectModel(types: types)
            try Backends.run { location in
                let container = try PersistentContainer(location, model: model, types: types)
                let context = container.makeContext()
                let entry: Names.Entry = try context.insert()
                #expect((entry.title, entry.count, entry.level, entry.style) == (nil, 3, nil, []))
                #expect(entry.words == ["a": [1, nil]] && entry.text == "a 2" && entry.note == -5)
                (entry.title, entry.count, entry.level, entry.style) = ("x", 4, .high, Names.Style(rawValue: 6))
                entry.words = [:]
                entry.note = .max
                try context.save()
                let other = container.makeContext()
                let copy = try other.existingObject(entry.id)
                #expect((copy.title, copy.count, copy.level, copy.style.rawValue) == ("x", 4, .high, 6))
                #expect(copy.words == [:] && copy.note == .max)
                (copy.title, copy.level) = (nil, nil)
                #expect((copy.title, copy.level) == (nil, nil) && copy["level"] == .null)
                try other.save()
                try container.close()
            }
        }

        @Test("@Model refuses the same property names as the generator")
        func names() {
            #expect(ModelPropertySyntax.reservedNames == ModelNames.managedObjectMembers.union(["self"]))
        }
    }
#endif
