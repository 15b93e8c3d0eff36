#if Macros
    import Foundation
    import RoostModels
    import Testing

    @Suite("The article about models in Swift")
    struct ArticleTests {
        private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()

        /// Returns the text without white space, which the formatter changes.
        private static func squeezed(_ text: String) -> String { text.filter { !$0.isWhitespace } }

        @Test("the article about models in Swift quotes code that is compiled and run")
        func quotations() throws {
            let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            let sources = try ["ArticleModels.swift", "ArticleTests.swift"].map {
                Self.squeezed(try String(contentsOf: folder.appending(path: $0), encoding: .utf8))
            }
            let page = try String(contentsOf: Self.root.appending(path: "docs/models-in-swift.md"), encoding: .utf8)
            // Tests/strangers writes the files of the page, and builds and runs them.
            let files = page.components(separatedBy: "\n<!-- file: ").dropFirst().compactMap { part in
                let parts = part.components(separatedBy: " -->\n```swift\n")
                return parts.count > 1 && !parts[0].contains("\n") ? parts[1].components(separatedBy: "```")[0] : nil
            }
            let quoted = page.components(separatedBy: "```swift\n").dropFirst().map {
                $0.components(separatedBy: "```")[0]
            }
            #expect(files.count == 3 && quoted.count > files.count + 3)
            for code in quoted where !files.contains(code) {
                let code = Self.squeezed(code)
                #expect(sources.contains { $0.contains(code) }, "\(code)")
            }
        }

        @Test("options of @Attribute and @Relationship have the effects that the article shows")
        func records() throws {
            let types: [any ManagedObjectClass.Type] = [Records.Record.self, Records.Song.self]
            try Backends.run { location in
                let container = try PersistentContainer(
                    location, model: ManagedObjectModel(types: types), types: types)
                let context = container.makeContext()
                let record: Records.Record = try context.insert()
                #expect(
                    (record.title, record.kind, record.isSelected, record.isOld) == ("Untitled", .studio, false, true))
                let song: Records.Song = try context.insert()
                song.record = record
                record.kind = .live
                record.cover = Records.Cover(colors: ["blue"])
                record.studio = ["latitude": .double(34), "longitude": .double(-118)]
                record.homepage = "https://example.org"
                record.isSelected = true
                try context.save()
                let copy = try container.makeContext().existingObject(record.id)
                #expect((copy.kind, copy.isSelected, copy.songCount) == (.live, false, 1))
                #expect(copy["kind"] == .string("live") && copy.cover?.colors == ["blue"])
                #expect(copy.studio?["latitude"] == .double(34) && copy.homepage == "https://example.org")

                record["kind"] = .string("unknown")
                #expect(record.kind == .studio)
                record.catalogNumber = "no"
                record.year = 1800
                let other: Records.Song = try context.insert()
                let error = #expect(throws: StoreError.self) { try context.save() }
                #expect(error?.failures.compactMap(\.property).sorted() == ["catalogNumber", "record", "year"])
                context.delete(other)
                (record.catalogNumber, record.year, record.kind) = ("AB1", 1971, .studio)
                context.delete(record)
                try context.save()
                #expect(try context.count(Fetch<Records.Song>()) == 0)
                try container.close()
            }
        }

        @Test("a fetch of a @Model superclass returns objects of its subclass")
        func parties() throws {
            let types: [any ManagedObjectClass.Type] = [Parties.Band.self, Parties.Party.self]
            let model = try ManagedObjectModel(types: types)
            let container = try PersistentContainer(.memory, model: model, types: types)
            let context = container.makeContext()
            let band: Parties.Band = try context.insert()
            #expect(band.members == [])
            (band.name, band.members) = ("Weather Report", ["Joe", "Wayne"])
            try context.save()
            #expect(try context.fetch(Fetch<Parties.Party>()).map(\.name) == ["Weather Report"])
            #expect(try container.makeContext().existingObject(band.id).members == ["Joe", "Wayne"])
        }

        @Test("a store migrates from one version of @Model classes to the next")
        func versions() throws {
            // An unnamed store in memory ends with its container, so no later version can open it.
            try Backends.run(isInFile: true) { location in
                let first = try PersistentContainer(
                    location, model: ManagedObjectModel(types: MusicV1.types), types: MusicV1.types)
                let context = first.makeContext()
                let old: MusicV1.Album = try context.insert()
                old.name = "Blue"
                try context.save()
                context.reset()
                try first.close()
                #expect(throws: StoreError.self) {
                    try PersistentContainer(
                        location, model: ManagedObjectModel(types: MusicV2.types), types: MusicV2.types)
                }

                let container = try PersistentContainer(
                    location, model: ManagedObjectModel(types: MusicV2.types), types: MusicV2.types,
                    ifIncompatible: .migrate(MigrationOptions()))
                let album = try container.makeContext().fetch(Fetch<MusicV2.Album>()).first
                print(album?.title ?? "", album?.rating ?? "not rated")

                #expect(album?.title == "Blue" && album?.year == 1970 && album?.label == nil)
                try container.close()
            }
        }
    }
#endif
