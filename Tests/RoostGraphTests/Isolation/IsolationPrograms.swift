/// A program that misuses threads, and a correct twin that differs in one line.
struct IsolationProgram {
    /// The phase of the compiler that finds the mistake: type checking or region analysis.
    enum Phase: CaseIterable { case types, regions }

    let name: String
    let phase: Phase
    /// The program; `<<>>` marks the line that differs.
    let text: String
    let right: String
    let wrong: String
    /// A part of the diagnostic.
    let diagnostic: String

    static let all: [IsolationProgram] = [
        IsolationProgram(
            name: "An object is returned from perform", phase: .regions,
            text: """
                func f1(_ c: PersistentContainer) async throws {
                    <<>>
                    _ = result
                }
                """,
            right: "let result = try await c.perform { context in try context.insert(\"Album\").objectID }",
            wrong: "let result = try await c.perform { context in try context.insert(\"Album\") }",
            diagnostic: "risks causing data races"),
        IsolationProgram(
            name: "An object of the view context is used in perform", phase: .regions,
            text: """
                @MainActor func f2(_ c: PersistentContainer) async throws {
                    let album = try c.viewContext.insert("Album")
                    let id = album.objectID
                    <<>>
                    _ = (album, id)
                }
                """,
            right: "await c.perform { context in context.object(with: id)[\"title\"] = \"x\" }",
            wrong: "await c.perform { context in album[\"title\"] = \"x\" }",
            diagnostic: "risks causing data races"),
        IsolationProgram(
            name: "The view context is used off the main actor", phase: .types,
            text: """
                func f3(_ c: PersistentContainer) async throws {
                    <<>>
                }
                """,
            right: "try await c.perform { context in _ = try context.insert(\"Album\") }",
            wrong: "_ = try c.viewContext.insert(\"Album\")", diagnostic: "main actor-isolated property 'viewContext'"),
        IsolationProgram(
            name: "An object escapes from perform through a captured variable", phase: .regions,
            text: """
                func f4(_ c: PersistentContainer) async throws {
                    var kept: ManagedObject?
                    <<>>
                    print(kept?.objectID as Any)
                }
                """,
            right: "kept = try c.makeContext().insert(\"Album\")",
            wrong: "try await c.perform { context in kept = try context.insert(\"Album\") }",
            diagnostic: "risks causing data races"),
        IsolationProgram(
            name: "An object is used in a detached task", phase: .regions,
            text: """
                @MainActor func f5(_ c: PersistentContainer) throws {
                    let album = try c.viewContext.insert("Album")
                    <<>>
                }
                """,
            right: "Task { @MainActor in album[\"title\"] = \"x\" }",
            wrong: "Task.detached { album[\"title\"] = \"x\" }", diagnostic: "risks causing data races"),
        IsolationProgram(
            name: "An object is used after its context was handed over", phase: .regions,
            text: """
                func f6(_ c: PersistentContainer) throws {
                    let context = c.makeContext()
                    let album = try context.insert("Album")
                    let id = album.objectID
                    Task { _ = try? context.save() }
                    <<>>
                }
                """,
            right: "print(id)", wrong: "album[\"title\"] = \"x\"", diagnostic: "risks causing data races"),
        IsolationProgram(
            name: "An actor returns an object", phase: .regions,
            text: """
                actor Importer7 {
                    let context: ManagedObjectContext
                    init(_ c: PersistentContainer) { context = c.makeContext() }
                    func object() throws -> ManagedObject { try context.insert("Album") }
                    func id() throws -> ObjectID { try context.insert("Album").objectID }
                }
                func f7(_ c: PersistentContainer) async throws {
                    <<>>
                    _ = result
                }
                """,
            right: "let result = try await Importer7(c).id()", wrong: "let result = try await Importer7(c).object()",
            diagnostic: "non-Sendable"),
        IsolationProgram(
            name: "An object is kept in a global variable", phase: .types, text: "<<>>",
            right: "@MainActor var shared8: ManagedObject? = nil", wrong: "var shared8: ManagedObject? = nil",
            diagnostic: "not concurrency-safe"),
        IsolationProgram(
            name: "A class of objects is declared Sendable", phase: .types, text: "<<>>",
            right: "final class Album9: ManagedObject {}", wrong: "final class Album9: ManagedObject, Sendable {}",
            diagnostic: "cannot inherit from another class"),
        IsolationProgram(
            name: "An object is read in an asynchronous let", phase: .regions,
            text: """
                @MainActor func count10(_ o: ManagedObject) -> Int { o.description.count }
                @concurrent func size10(_ o: ManagedObject) async -> Int { o.description.count }
                @MainActor func f10(_ c: PersistentContainer) async throws -> Int {
                    let album = try c.viewContext.insert("Album")
                    <<>>
                    return await n + count10(album)
                }
                """,
            right: "async let n = 1", wrong: "async let n = size10(album)", diagnostic: "risks causing data races"),
        IsolationProgram(
            name: "An object of one context is used in perform of another", phase: .regions,
            text: """
                func f11(_ c: PersistentContainer) async throws {
                    let context = c.makeContext()
                    let album = try context.insert("Album")
                    let id = album.objectID
                    <<>>
                    album["title"] = "again"
                    _ = id
                }
                """,
            right: "await c.makeBackgroundContext().perform { other in other.object(with: id)[\"title\"] = \"x\" }",
            wrong: "await c.makeBackgroundContext().perform { other in _ = other; album[\"title\"] = \"x\" }",
            diagnostic: "risks causing data races"),
        IsolationProgram(
            name: "A stream of objects is read in another task", phase: .regions,
            text: """
                @MainActor func f12(_ c: PersistentContainer) throws {
                    let album = try c.viewContext.insert("Album")
                    <<>>
                    Task.detached { for await element in stream { print(element) } }
                    album["title"] = "x"
                }
                """,
            right: "let stream = AsyncStream<ObjectID> { $0.yield(album.objectID) }",
            wrong: "let stream = AsyncStream<ManagedObject> { $0.yield(album) }", diagnostic: "risks causing data races"
        ),
        IsolationProgram(
            name: "An object is kept in a Sendable struct", phase: .types,
            text: """
                struct Row13: Sendable {
                    <<>>
                }
                """,
            right: "var album: ObjectID", wrong: "var album: ManagedObject", diagnostic: "non-Sendable type"),
        IsolationProgram(
            name: "Objects are passed to a task group", phase: .regions,
            text: """
                @MainActor func f14(_ c: PersistentContainer) async throws {
                    let albums = try c.viewContext.fetch(FetchRequest("Album"))
                    let ids = albums.map(\\.objectID)
                    await withTaskGroup(of: Void.self) { group in
                        <<>>
                    }
                    _ = (albums, ids)
                }
                """,
            right: "for id in ids { group.addTask { print(id) } }",
            wrong: "for album in albums { group.addTask { album[\"title\"] = \"x\" } }",
            diagnostic: "risks causing data races"),
        IsolationProgram(
            name: "An object is captured in a closure that is Sendable", phase: .types,
            text: """
                @MainActor func f15(_ c: PersistentContainer) throws {
                    let artist = try c.viewContext.insert("Artist")
                    let id = artist.objectID
                    <<>>
                    _ = (wanted, id)
                }
                """,
            right: "let wanted: @Sendable (ObjectID) -> Bool = { $0 == id }",
            wrong: "let wanted: @Sendable (ObjectID) -> Bool = { $0 == artist.objectID }",
            diagnostic: "non-Sendable type 'ManagedObject'"),
    ]

    /// Returns the program with the right or the wrong line.
    func text(isRight: Bool) -> String { text.replacing("<<>>", with: isRight ? right : wrong) }

    var line: Int {
        text.split(separator: "\n", omittingEmptySubsequences: false).firstIndex { $0.contains("<<>>") } ?? 0
    }
}
