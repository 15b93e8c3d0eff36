import Foundation
import Observation
import Roost
import RoostGraph
import Testing

/// The code of the articles about objects that is not a part of an example program.
@Suite("The articles about objects")
struct ArticleTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private static let pages = [
        "objects", "getting-started", "contexts-and-concurrency", "relationships-and-delete-rules", "conflicts",
        "undo", "following-changes", "for-core-data-users",
    ]

    private static func page(_ name: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent("docs/\(name).md"), encoding: .utf8)
    }

    /// Without white space, which the formatter places as it likes.
    private static func squeezed(_ text: String) -> String { text.filter { !$0.isWhitespace } }

    @Test("quote code that is compiled and run", arguments: pages)
    func quotations(_ name: String) throws {
        var sources: [String] = [try String(contentsOf: URL(fileURLWithPath: #filePath), encoding: .utf8)]
        for example in ["Tutorial", "Notes"] {
            let files = FileManager.default.enumerator(
                at: Self.root.appendingPathComponent("Examples/\(example)"), includingPropertiesForKeys: nil)
            for case let file as URL in try #require(files)
            where file.pathExtension == "swift" && !file.path.contains("/.build/") {
                sources.append(try String(contentsOf: file, encoding: .utf8))
            }
        }
        let page = try Self.page(name)
        // Tests/strangers writes the files of a page, and builds and runs them.
        let files = page.components(separatedBy: "\n<!-- file: ").dropFirst().compactMap { part in
            let parts = part.components(separatedBy: " -->\n```swift\n")
            return parts.count > 1 && !parts[0].contains("\n") ? parts[1].components(separatedBy: "```")[0] : nil
        }
        let quoted = page.components(separatedBy: "```swift\n").dropFirst().map { $0.components(separatedBy: "```")[0] }
        let texts = sources.map(Self.squeezed)
        for code in quoted where !files.contains(code) {
            #expect(texts.contains { $0.contains(Self.squeezed(code)) }, "\(code)")
        }
    }

    @Test("name every mistake that the compiler finds, its diagnostic and its remedy", arguments: IsolationProgram.all)
    func diagnostics(_ program: IsolationProgram) throws {
        let page = try Self.page("contexts-and-concurrency")
        for text in [program.name, program.wrong, program.right, program.diagnostic] {
            #expect(page.contains(text), "\(text)")
        }
    }

    @Test("name only what the libraries have")
    func names() throws {
        let folder = Self.root.appendingPathComponent("docs/api")
        var known: Set<String> = []
        for file in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil) {
            for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
                // `Type.member(label:): declaration`
                guard let end = line.range(of: ": ") else { continue }
                let name = line[..<end.lowerBound]
                let member = name.split(separator: ".").last.map(String.init) ?? String(name)
                known.formUnion([String(name), member])
                if let type = name.split(separator: ".").first { known.insert(String(type)) }
                if let base = member.split(separator: "(").first { known.insert(String(base)) }
            }
        }
        let rows = try Self.page("for-core-data-users").split(separator: "\n").filter { $0.hasPrefix("| `") }
        #expect(rows.count > 100)
        for row in rows {
            let cells = row.split(separator: "|", omittingEmptySubsequences: false)
            guard cells.count > 2 else { continue }
            for (number, part) in cells[2].components(separatedBy: "`").enumerated() where number % 2 == 1 {
                let name = part.split(separator: ".", omittingEmptySubsequences: true).last.map(String.init) ?? part
                // Fragments of code and names of models are not in the lists.
                guard name.allSatisfy({ $0.isLetter || $0.isNumber || "_:()".contains($0) }) else { continue }
                #expect(known.contains(name) || known.contains(part), "\(part) in: \(row)")
            }
        }
    }

    // MARK: docs/objects.md

    @Test("use objects by the names of their properties")
    func namesOfProperties() throws {
        try Music.onEachBackend { container in
            let context = container.makeContext()
            let artist = try context.insert("Artist")
            artist["name"] = "Joni Mitchell"
            let album = try context.insert("Album")
            album.dynamic.title = "Blue"
            try album.setObject(artist, for: "artist")
            try context.save()
            for album in try context.fetch(FetchRequest("Album", where: "artist.name == 'Joni Mitchell'")) {
                print(album["title"], try album.object("artist")?["name"] ?? .null)
            }
            #expect(try artist.objects("albums").count == 1)
        }
    }

    @Test("show hooks of a class")
    func hooks() throws {
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Song", attributes: [.string("title"), .integer32("plays", isOptional: false, default: 0)])
        ])
        let container = try PersistentContainer(.memory, model: model, types: [Song.self])
        let context = container.makeContext()
        let song: Song = try context.insert()
        song.title = " Carey "
        song.plays = -1
        let error = #expect(throws: StoreError.self) { try context.save() }
        #expect(error?.failures.map(\.code) == [1550])
        song.plays = 1
        try context.save()
        #expect(song.title == "Carey")
    }

    @Test("show errors that wait")
    func pendingErrors() throws {
        try Music.onEachBackend { container in
            let context = container.makeContext()
            let album: Album = try context.insert()
            album["titel"] = "Blue"
            #expect(context.pendingError?.code == .unknownProperty)
            #expect(throws: StoreError.self) { try context.save() }
            #expect(throws: StoreError.self) { try album.setValue("Blue", for: "titel") }
        }
    }

    // MARK: docs/contexts-and-concurrency.md

    @Test("pass IDs from one isolation to another")
    func identifiers() async throws {
        let container = try PersistentContainer(.memory, model: try Music.model(), types: Music.types)
        let context = container.makeContext()
        let album: Album = try context.insert()
        album.title = "Blue"
        try context.save()
        let id = album.id
        let title = try await container.perform { context in
            try context.existingObject(id).title
        }
        #expect(title == "Blue")
        #expect(try await titles(container) == ["Blue"])
        let cataloger = Cataloger(container)
        let added = try await cataloger.add("Hejira")
        #expect(try context.existingObject(added).title == "Hejira")
    }

    @MainActor
    func titles(_ container: PersistentContainer) throws -> [String?] {
        try container.viewContext.fetch(Fetch<Album>(sortedBy: ["title"])).map(\.title)
    }

    @Test("merge a save by its notice")
    func notices() throws {
        let container = try PersistentContainer(.memory, model: try Music.model(), types: Music.types)
        let (source, context) = (container.makeContext(), container.makeContext())
        let album: Album = try source.insert()
        album.title = "Blue"
        try source.save()
        let copy = try context.existingObject(album.id)
        var notices: [SaveNotice] = []
        let token = source.observeSaves { notices.append($0) }
        album.title = "Hejira"
        try source.save()
        #expect(copy.title == "Blue")
        for notice in notices { try context.mergeChanges(notice) }
        #expect(copy.title == "Hejira")
        withExtendedLifetime(token) {}
    }

    @Test("merge deletes, and keep the values that were read")
    func mergedDeletes() throws {
        try Music.onEachBackend { container in
            let (source, context) = (container.makeContext(), container.makeContext())
            context.mergesChangesAutomatically = true
            let album: Album = try source.insert()
            album.title = "Blue"
            try source.save()
            let copy = try context.existingObject(album.id)
            source.delete(album)
            try source.save()
            #expect(!copy.isDeleted)
            context.processPendingChanges()
            #expect(copy.isDeleted && copy.title == "Blue")
            copy.title = "Hejira"
            try context.save()
            #expect(try context.count(Fetch<Album>()) == 0)

            let changed: Album = try source.insert()
            changed.title = "Mingus"
            try source.save()
            // The count began an event, whose reads see the state before the insertion.
            #expect(throws: StoreError.self) { try context.existingObject(changed.id) }
            context.processPendingChanges()
            let other = try context.existingObject(changed.id)
            other.title = "Shadows"
            source.delete(changed)
            try source.save()
            context.processPendingChanges()
            #expect(!other.isDeleted && other.title == "Shadows")
            let error = #expect(throws: StoreError.self) { try context.save() }
            #expect(error?.conflicts.map(\.id) == [other.objectID])
        }
    }

    @Test("observe the ends of events")
    func observation() throws {
        let container = try PersistentContainer(.memory, model: try Music.model(), types: Music.types)
        let context = container.makeContext()
        var inserted: [ManagedObject] = []
        let token = context.observe { change in inserted += change.inserted }
        let album: Album = try context.insert()
        context.processPendingChanges()
        #expect(inserted == [album])
        withExtendedLifetime(token) {}
    }

    @Test("observe properties of objects")
    @MainActor
    func observedProperties() throws {
        let container = try PersistentContainer(.memory, model: try Music.model(), types: Music.types)
        container.viewContext.isObservable = true
        let album: Album = try container.viewContext.insert()
        album.title = "Blue"
        let changes = Signal()
        withObservationTracking {
            print(album.title ?? "", album.tracks.count)
        } onChange: {
            changes.set()
        }
        album.title = "Hejira"
        #expect(changes.isSet)
    }

    @Test("follow commits, without a gap after what was read")
    func notices() async throws {
        let container = try PersistentContainer(.memory, model: Music.model(), types: Music.types)
        let store = container.stores[0]
        try await store.insert("Artist", rows: [["name": "Joni"]])
        let writer = container.makeContext()
        var names: [String] = []
        let notices = try container.saves
        let shown = try await store.fetch("Artist", sortedBy: ["name"])
        for name in ["Carole", "James"] {
            let artist: Artist = try writer.insert()
            artist.name = name
            try writer.save()
        }
        for await notice in notices {
            names += notice.inserted.map(\.description)
            if !notice.isComplete || names.count > shown.count { break }
        }
        #expect(names.count == 2)
    }

    /// The keys of what a search index has.
    private final class Index {
        var keys: Set<ObjectID> = []
        func add(_ record: Record) { keys.insert(record.id) }
        func update(_ id: ObjectID, in store: Store) throws {
            if try store.record(id) != nil { keys.insert(id) }
        }
        func remove(_ id: ObjectID) { keys.remove(id) }
    }

    @Test("read everything, then follow the history")
    func history() throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "article-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let (path, model) = (directory.appending(path: "music.sqlite").path, try Music.model())
        let index = Index()
        let options = StoreOptions().with { $0.tracksHistory = true }
        let store = try Store.open(.sqlite(path), model: model, options: options)
        try store.insert("Track", rows: [["title": "Blue"], ["title": "Carey"]])
        // Once: read everything, and take the token of the same view.
        var token = try store.read { view in
            try view.forEach(FetchRequest("Track")) { index.add($0) }
            return try view.historyToken()
        }
        #expect(index.keys.count == 2)
        try store.insert("Track", rows: [["title": "River"]])
        try store.delete("Track", where: "title == 'Blue'")
        // Later, as often as you like:
        for transaction in try store.history(after: token) {
            for change in transaction.changes where change.id.entity == "Track" {
                switch change.kind {
                case .insert, .update: try index.update(change.id, in: store)
                case .delete: index.remove(change.id)
                }
            }
            token = transaction.token
        }
        #expect(index.keys == Set(try store.fetch("Track").map(\.id)))
        try store.deleteHistory(before: token)  // Everything up to the token.
        try store.deleteHistory(before: Date(timeIntervalSinceNow: -30 * 86_400))
        try limits()
        try store.close()
    }

    private func limits() throws {
        let options = StoreOptions().with {
            $0.tracksHistory = true
            $0.historyRetention = HistoryRetention(days: 30, byteCount: 64 << 20)
        }
        #expect(options.historyRetention?.days == 30)
    }

    @Test("save and fetch without holding the isolation")
    func background() async throws {
        let container = try PersistentContainer(.memory, model: try Music.model(), types: Music.types)
        let context = container.makeContext()
        let album: Album = try context.insert()
        album.title = "Blue"
        try await context.saveInBackground()
        let albums = try await context.fetchInBackground(Fetch<Album>(where: "title == 'Blue'"))
        #expect(albums == [album])
    }

    @Test("pin a state of the store")
    func pins() throws {
        try Music.onEachBackend { container in
            let (context, other) = (container.makeContext(), container.makeContext())
            try context.pin()
            let before = try context.count(Fetch<Album>())
            let album: Album = try other.insert()
            album.title = "Blue"
            try other.save()
            let still = try context.count(Fetch<Album>())
            context.unpin()
            let after = try context.count(Fetch<Album>())
            #expect((before, still, after) == (0, 0, 1))
        }
    }

    // MARK: docs/relationships-and-delete-rules.md

    @Test("set, order and read relationships")
    func relationships() throws {
        try Music.onEachBackend { container in
            let context = container.makeContext()
            let artist: Artist = try context.insert()
            artist.name = "Joni Mitchell"
            let (blue, hejira): (Album, Album) = (try context.insert(), try context.insert())
            (blue.title, hejira.title) = ("Blue", "Hejira")
            artist.albums = [blue, hejira]
            artist.albums.remove(hejira)
            #expect(hejira.artist == nil && blue.artist === artist)

            for title in ["Carey", "Blue", "River"] {
                let track: Track = try context.insert()
                track.title = title
                blue.tracks.append(track)
            }
            blue.tracks.move(from: 0, to: 2)
            #expect(blue.tracks.map(\.title) == ["Blue", "River", "Carey"])
            try context.save()

            let other = container.makeContext()
            var request = Fetch<Album>(sortedBy: ["title"])
            request.prefetching = ["artist", "tracks"]
            let albums = try other.fetch(request)
            #expect(albums.first?.hasFault(for: "tracks") == false)
        }
    }

    @Test("delete with a rule for the other side")
    func mandatory() throws {
        let model = try ManagedObjectModel(entities: [
            EntityDescription("Team", relationships: [.toMany("players", to: "Player", inverse: "team")]),
            EntityDescription(
                "Player", relationships: [.toOne("team", to: "Team", inverse: "players", isOptional: false)]),
        ])
        let container = try PersistentContainer(.memory, model: model)
        let context = container.makeContext()
        let (team, player) = (try context.insert("Team"), try context.insert("Player"))
        try player.setObject(team, for: "team")
        try context.save()
        context.delete(team)
        let error = #expect(throws: StoreError.self) { try context.save() }
        #expect(error?.failures.map(\.code) == [1570])
    }

    // MARK: docs/conflicts.md

    @Test("make a save depend on an object that it does not change")
    func detection() throws {
        try Music.onEachBackend { container in
            let (context, other) = (container.makeContext(), container.makeContext())
            let (artist, album): (Artist, Album) = (try context.insert(), try context.insert())
            (artist.name, album.title) = ("Joni Mitchell", "Blue")
            try context.save()
            try other.existingObject(artist.id).name = "Joni"
            try other.save()
            context.detectConflicts(for: artist)
            album.title = "The album of \(artist.name)"
            let error = #expect(throws: StoreError.self) { try context.save() }
            #expect(error?.conflicts.map(\.id) == [artist.objectID])
        }
    }

    @Test("save again after a refresh that keeps the changes")
    func refreshing() throws {
        try Music.onEachBackend { container in
            let (context, other) = (container.makeContext(), container.makeContext())
            let artist: Artist = try context.insert()
            (artist.name, artist.rank) = ("Joni", 1)
            try context.save()
            let copy = try other.existingObject(artist.id)
            (copy.name, copy.rank) = ("Joni M.", 2)
            try other.save()
            artist.name = "Joni Mitchell"
            #expect(throws: StoreError.self) { try context.save() }
            try context.refresh(artist, mergingChanges: true)
            try context.save()
            #expect(artist.name == "Joni Mitchell" && artist.rank == 2)
        }
    }

    @Test("decide about objects that the other side deleted", arguments: [true, false])
    func deletedThere(_ isMine: Bool) throws {
        try Music.onEachBackend { container in
            let (context, other) = (container.makeContext(), container.makeContext())
            let artist: Artist = try context.insert()
            artist.name = "Joni"
            try context.save()
            other.delete(try other.existingObject(artist.id))
            try other.save()
            artist.name = "Joni Mitchell"
            context.mergePolicy = isMine ? .mergeByPropertyObjectTrump : .mergeByPropertyStoreTrump
            try context.save()
            #expect((artist.context == nil) == !isMine)
            #expect(try container.makeContext().count(Fetch<Artist>()) == (isMine ? 1 : 0))
        }
    }

    // MARK: docs/following-changes.md

    @Test("follow results by a closure, in windows and sections, and totals")
    func results() throws {
        try onEachBackend { _, context, album in
            let controller = try FetchedResultsController(
                Fetch<Album>(where: "year > 1960", sortedBy: ["artist.name", "title"]), in: context,
                sections: "artist.name")
            for section in controller.sections { print(section.name, section.count) }
            #expect(controller.sections.map(\.name) == ["Joni Mitchell"])
            controller.onChange = { change in
                for item in change.deleted { print("\(item.id) was at \(item.place)") }
                for item in change.inserted { print("\(item.id) is at \(item.place)") }
                for move in change.moved { print("\(move.id) is at \(move.to)") }
                for move in change.updated { print("\(move.id) has other values") }
            }
            let list = try FetchedResultsController(Fetch<Album>(sortedBy: ["title"], limit: 50), in: context)
            let totals = try ResultsTotals(Fetch<Album>(where: "year > 1960"), sums: ["year"], in: context)
            totals.onChange = { print(totals.count, totals.sum("year")) }
            let letters = try FetchedResultsController(
                Fetch<Album>(sortedBy: ["title"]), in: context, sections: "title",
                named: { if case .string(let title) = $0 { title.prefix(1).uppercased() } else { "" } })
            for number in 0..<60 {
                let other: Album = try context.insert()
                (other.title, other.year) = ("Album \(number)", 1959)
            }
            album.title = "Hejira"
            album.year = 1976
            context.processPendingChanges()
            try list.setWindow(offset: 50, limit: 50)
            #expect(list.count == 11 && list.objects.last === album)
            #expect(letters.sections.map(\.name) == ["A", "H"])
            #expect(totals.count == 1 && totals.sum("year") == 1976)
            #expect(controller[ResultsPlace(section: 0, item: 0)] === album)
        }
    }

    @Test("follow results by a sequence, which ends with its controller")
    func resultsInSequence() async throws {
        let container = try PersistentContainer(.memory, model: try Music.model(), types: Music.types)
        let context = container.makeContext()
        func follow() async throws -> Task<[[ObjectID]], Never> {
            let controller = try FetchedResultsController(Fetch<Album>(sortedBy: ["title"]), in: context)
            let start = controller.sections.map { Array($0) }
            let changes = controller.changes
            let task = Task {
                var rows: [[ObjectID]] = start
                for await change in changes { rows = change.applying(to: rows) }
                return rows
            }
            for number in 0..<5 {
                let album: Album = try context.insert()
                album.title = "\(number)"
                context.processPendingChanges()
            }
            return task
        }
        let rows = try await follow().value
        #expect(rows.map(\.count) == [5])
        try container.close()
    }

    // MARK: docs/undo.md

    /// Runs `body` on each backend with an album that has three tracks.
    private func onEachBackend(
        _ body: (PersistentContainer, ManagedObjectContext, Album) throws -> Void
    ) throws {
        try Music.onEachBackend { container in
            let context = container.makeContext()
            let (artist, album): (Artist, Album) = (try context.insert(), try context.insert())
            (artist.name, album.title, album.year, album.artist) = ("Joni Mitchell", "Blue", 1971, artist)
            for title in ["All I Want", "Carey", "River"] {
                let track: Track = try context.insert()
                track.title = title
                album.tracks.append(track)
            }
            try context.save()
            try body(container, context, album)
        }
    }

    @Test("take back events and groups, and repeat them")
    func steps() throws {
        try onEachBackend { _, context, album in
            let undo = UndoStack(limit: 100)
            context.undo = undo
            album.title = "Hejira"
            album.year = 1976
            undo.undo()
            #expect(album.title == "Blue" && album.year == 1971 && !context.hasChanges)
            undo.redo()
            #expect(album.title == "Hejira" && album.year == 1976)

            album.title = "Mingus"
            context.processPendingChanges()
            album.year = 1979
            context.processPendingChanges()
            #expect(undo.depth == 3)

            undo.group("Rename") {
                album.title = "Court and Spark"
                context.processPendingChanges()
                album.year = 1974
            }
            let command = undo.canUndo ? "Undo \(undo.undoName ?? "")" : "Undo"
            #expect(command == "Undo Rename")
            undo.undo()
            #expect(album.title == "Mingus" && album.year == 1979)
            #expect(undo.redoName == "Rename" && undo.canRedo)
            album.isLive = true
            #expect(!undo.canRedo && undo.depth == 4)

            undo.disable()
            album.rating = 4.5
            undo.enable()
            undo.undo()
            #expect(album.rating == 4.5 && !album.isLive)
            context.withoutTracking { album.cover = Data([1]) }
            #expect(undo.depth == 3)
            context.rollback()
            #expect(!undo.canUndo && !undo.canRedo)
        }
    }

    @Test("take back a delete with everything that its rules did")
    func undoneDelete() throws {
        for isSaved in [false, true] {
            try onEachBackend { container, context, album in
                let undo = UndoStack()
                context.undo = undo
                let artist = try #require(album.artist)
                let id = album.id
                if isSaved {
                    context.delete(artist)
                    try context.save()
                    undo.undo()
                    try context.save()
                } else {
                    context.delete(artist)
                    undo.undo()
                    #expect(!context.hasChanges)
                }
                #expect(album.artist === artist && Array(artist.albums) == [album] && album.id == id)
                #expect(album.tracks.map(\.title) == ["All I Want", "Carey", "River"])
                let other = container.makeContext()
                let copy = try other.existingObject(id)
                #expect(copy.tracks.map(\.title) == ["All I Want", "Carey", "River"])
            }
        }
    }

    @Test("take back saved changes, and keep what others saved")
    func undoneSaves() throws {
        try onEachBackend { container, context, album in
            let undo = UndoStack()
            context.undo = undo
            context.mergesChangesAutomatically = true
            album.title = "Hejira"
            try context.save()
            let other = container.makeContext()
            try other.existingObject(album.id).year = 1976
            try other.save()
            context.processPendingChanges()
            #expect(undo.depth == 1)
            undo.undo()
            #expect(album.title == "Blue" && album.year == 1976 && album.isUpdated)
            try context.save()
            undo.redo()
            #expect(album.title == "Hejira" && album.year == 1976)

            // The same property: the step decides.
            try context.save()
            try other.refreshAllObjects()
            try other.existingObject(album.id).title = "Mingus"
            try other.save()
            context.processPendingChanges()
            #expect(album.title == "Mingus")
            undo.undo()
            #expect(album.title == "Blue")

            // A save that fails keeps the changes and the steps.
            album.artist?.name = String(repeating: "long", count: 20)
            #expect(throws: StoreError.self) { try context.save() }
            #expect(undo.depth == 1 && album.title == "Blue")
            undo.undo()
            try context.save()

            // An object that another context deleted stays deleted.
            album.year = 1
            context.processPendingChanges()
            try other.refreshAllObjects()
            other.delete(try other.existingObject(album.id))
            undo.undo()
            try other.save()
            context.processPendingChanges()
            undo.redo()
            #expect(album.isDeleted && !context.hasChanges)
        }
    }

    @Test("call a hook of the objects that undo changed")
    func awaking() throws {
        let model = try ManagedObjectModel(entities: [
            EntityDescription("Square", attributes: [.double("width", isOptional: false, default: 1)])
        ])
        let container = try PersistentContainer(.memory, model: model, types: [Square.self])
        let context = container.makeContext()
        let undo = UndoStack()
        context.undo = undo
        let square: Square = try context.insert()
        context.processPendingChanges()
        square.width = 3
        #expect(square.area == 9)
        undo.undo()
        #expect(square.area == 1)
        try context.save()
        square.width = 5
        #expect(square.area == 25)
        context.rollback()
        #expect(square.area == 1)
    }

    @Test("edit in a scratch pad")
    func pads() throws {
        try onEachBackend { container, context, album in
            let undo = UndoStack()
            context.undo = undo
            let pad = context.makeChild("Edit Album")
            let draft = try pad.existingObject(album.id)
            draft.title = "Hejira"
            draft.tracks.move(from: 2, to: 0)
            #expect(draft !== album && draft.id == album.id)
            #expect(album.title == "Blue" && !context.hasChanges)
            #expect(pad.parent === context && context.parent == nil)

            try pad.save()
            #expect(!pad.hasChanges && draft.title == "Hejira")
            #expect(album.title == "Hejira" && album.tracks.first?.title == "River")
            let other = container.makeContext()
            #expect(try other.existingObject(album.id).title == "Blue")
            try context.save()
            try other.refreshAllObjects()
            #expect(try other.existingObject(album.id).title == "Hejira")

            #expect(undo.depth == 1 && undo.undoName == "Edit Album")
            undo.undo()
            #expect(album.title == "Blue" && album.tracks.first?.title == "All I Want")
        }
    }

    @Test("insert in a scratch pad with final IDs, and see unsaved changes there")
    func padInserts() throws {
        try onEachBackend { container, context, album in
            album.title = "unsaved"
            let pad = context.makeChild()
            #expect(try pad.count(Fetch<Album>(where: "title == 'unsaved'")) == 1)
            let track: Track = try pad.insert()
            track.title = "Amelia"
            track.album = pad.object(album.id)
            let id = track.id
            try pad.save()
            try context.save()
            #expect(try context.existingObject(id).album === album)
            #expect(try container.makeContext().existingObject(id).title == "Amelia")

            do {
                let pad = context.makeChild()
                try pad.existingObject(album.id).title = "discarded"
            }
            #expect(album.title == "unsaved" && !context.hasChanges)
        }
    }

    @Test("check a scratch pad before the parent changes")
    func padErrors() throws {
        try onEachBackend { _, context, album in
            let pad = context.makeChild()
            let draft = try pad.existingObject(album.id)
            draft.artist?.name = String(repeating: "long", count: 20)
            let invalid = #expect(throws: StoreError.self) { try pad.save() }
            #expect(invalid?.code == .validationFailed && !context.hasChanges && pad.hasChanges)
            draft.artist?.name = "Joni"

            draft.title = "Hejira"
            context.delete(album)
            let error = #expect(throws: StoreError.self) { try pad.save() }
            #expect(error?.code == .objectNotFound && error?.missingObjects == [album.objectID])
            #expect(album.artist?.name != "Joni")
            pad.delete(draft)
            try pad.save()
            try context.save()
        }
    }

    @Test("let scratch pads follow their parent, and each other")
    func followingPads() throws {
        try onEachBackend { _, context, album in
            let (pad, second) = (context.makeChild(), context.makeChild())
            pad.mergesChangesAutomatically = true
            let (draft, still) = (try pad.existingObject(album.id), try second.existingObject(album.id))
            draft.year = 1
            let gone = draft.tracks[0]
            #expect(gone.title == "All I Want" && still.year == 1971)
            album.title = "Hejira"
            context.delete(album.tracks[0])
            context.processPendingChanges()
            #expect(draft.title == "Hejira" && draft.year == 1)
            #expect(gone.isDeleted && draft.tracks.count == 2)
            #expect(still.title == "Blue")
            try second.refreshAllObjects()
            #expect(still.title == "Hejira")

            // Both set the year: the last save holds.
            still.year = 2
            try pad.save()
            try second.save()
            #expect(album.year == 2 && album.title == "Hejira" && draft.year == 2)

            // A pad can have a stack and pads of its own.
            let undo = UndoStack()
            second.undo = undo
            still.year = 3
            let inner = second.makeChild()
            try inner.existingObject(album.id).title = "Mingus"
            try inner.save()
            #expect(still.title == "Mingus" && album.title == "Hejira" && undo.depth == 2)
            undo.undo()
            undo.undo()
            #expect(still.title == "Hejira" && still.year == 2 && !second.hasChanges)
        }
    }
}

/// A class with a value that is computed from others.
final class Square: ManagedObject, ManagedObjectClass {
    static let entityName: EntityName = "Square"
    static let shape = ClassShape("Square", properties: [.field("width", as: .double)])

    static func propertyName(of path: AnyKeyPath) -> String? { path == \Square.width ? "width" : nil }

    private(set) var area = 1.0

    var width: Double {
        get { double(slot: 0) }
        set {
            setDouble(newValue, slot: 0)
            area = width * width
        }
    }

    override func awake(from events: SnapshotEvents) { area = width * width }
}

/// A class with hooks, written by hand.
final class Song: ManagedObject, ManagedObjectClass {
    static let entityName: EntityName = "Song"
    static let shape = ClassShape(
        "Song", properties: [.field("title", as: .string), .field("plays", as: .integer32)])

    static func propertyName(of path: AnyKeyPath) -> String? {
        path == \Song.title ? "title" : path == \Song.plays ? "plays" : nil
    }

    var title: String? {
        get { optionalText(slot: 0) }
        set { setOptionalText(newValue, slot: 0) }
    }
    var plays: Int32 {
        get { int32(slot: 1) }
        set { setInt32(newValue, slot: 1) }
    }

    override class var validatedProperties: [String] { ["title"] }

    override func validate(_ value: inout Value, for property: String) throws(ValidationFailure) {
        if case .string(let title) = value { value = .string(title.trimmingCharacters(in: .whitespaces)) }
    }

    override func validateForUpdate() -> [ValidationFailure] {
        plays < 0 ? [validationFailure("Plays cannot be negative.", for: "plays")] : []
    }

    override func validateForInsert() -> [ValidationFailure] { validateForUpdate() }
}

/// An actor of a program that owns a context.
actor Cataloger: ContextActor {
    let executor = ContextExecutor("cataloger")
    let context: ManagedObjectContext

    init(_ container: PersistentContainer) {
        context = container.makeContext("cataloger")
        container.attach(self)
    }

    func add(_ title: String) throws -> ManagedObjectID<Album> {
        let album: Album = try context.insert()
        album.title = title
        try context.save()
        return album.id
    }
}
