import Roost
import RoostCore
import RoostGraph
import Testing

/// An object that runs a closure of the test in `willSave`.
private final class Memo: ManagedObject, ManagedObjectClass {
    static var entityName: EntityName { "Memo" }
    static func propertyName(of path: AnyKeyPath) -> String? { nil }
    static var shape: ClassShape { ClassShape("Memo", properties: [.field("title", as: .string)]) }

    var title: String? {
        get { optionalText(slot: 0) }
        set { setOptionalText(newValue, slot: 0) }
    }
    var onWillSave: (() -> Void)?

    override func willSave() { onWillSave?() }

    static func makeContext() throws -> ManagedObjectContext {
        let model = try ManagedObjectModel(entities: [
            EntityDescription("Memo", attributes: [.string("title", maximumLength: 10)])
        ])
        return try PersistentContainer(.memory, model: model, types: [Memo.self]).makeContext()
    }
}

/// Calls of `willSave` and reports to observers during a save.
@Suite("Events of a save")
struct SavingEventTests {
    @Test("willSave is called for an object that another willSave inserts while deleting a new object")
    func replacedInWillSave() throws {
        let context = try Memo.makeContext()
        let (first, draft): (Memo, Memo) = (try context.insert(), try context.insert())
        var calls = 0
        first.onWillSave = {
            guard draft.context != nil, let other = try? context.insert(Memo.self) else { return }
            other.onWillSave = { calls += 1 }
            context.delete(draft)
        }
        try context.save()
        first.onWillSave = nil
        #expect(calls == 1)
        #expect(try context.count(FetchRequest("Memo")) == 2)
    }

    @Test("willSave is called again for each object that the last round of calls changed, until no object changes")
    func rounds() throws {
        let context = try Memo.makeContext()
        let (first, second): (Memo, Memo) = (try context.insert(), try context.insert())
        var calls: [String] = []
        second.onWillSave = {
            calls.append("second")
            if first.title == nil { first.title = "" }
        }
        first.onWillSave = {
            calls.append("first")
            if let title = first.title, title.count < 2 { first.title = title + "x" }
        }
        try context.save()
        (first.onWillSave, second.onWillSave) = (nil, nil)
        #expect(calls == ["first", "second", "first", "first", "first"])
        #expect(first.title == "xx")
    }

    @Test("an observer gets the objects that willSave inserts, updates and deletes")
    func changesByWillSave() throws {
        let context = try Memo.makeContext()
        let (first, second): (Memo, Memo) = (try context.insert(), try context.insert())
        try context.save()
        var third: Memo?
        first.onWillSave = {
            guard first.title == "new" else { return }
            first.title = "changed"
            third = try? context.insert(Memo.self)
            context.delete(second)
        }
        var reports: [ObjectsChange] = []
        let token = context.observe { reports.append($0) }
        first.title = "new"
        try withExtendedLifetime(token) { try context.save() }
        first.onWillSave = nil
        #expect(reports.count == 2)
        #expect(reports.first?.updated == [first])
        let inserted = try #require(third)
        #expect(reports.last?.inserted == [inserted])
        #expect(reports.last?.updated == [first] && reports.last?.deleted == [second])
    }

    @Test("an observer gets the objects that willSave updates in a save that fails validation")
    func changesByFailedSave() throws {
        let context = try Memo.makeContext()
        let (first, second): (Memo, Memo) = (try context.insert(), try context.insert())
        try context.save()
        first.onWillSave = { if second.title == nil { second.title = "longer than the maximum" } }
        var reports: [ObjectsChange] = []
        let token = context.observe { reports.append($0) }
        first.title = "new"
        withExtendedLifetime(token) {
            #expect(throws: StoreError.self) { try context.save() }
            context.processPendingChanges()
        }
        first.onWillSave = nil
        #expect(reports.flatMap(\.updated) == [first, second])
    }

    @Test("an observer of a context with undo gets an object that a conflicting save merges")
    func mergedConflict() throws {
        let (container, context, _) = try UndoSample.make()
        context.mergePolicy = .mergeByPropertyObjectTrump
        let album: Album = try context.insert()
        album.year = 1
        try context.save()
        let other = container.makeContext()
        try other.existingObject(album.id).year = 2
        try other.save()
        var years: [Int16] = []
        let token = context.observe { if $0.updated.contains(album) { years.append(album.year) } }
        album.title = "mine"
        try withExtendedLifetime(token) { try context.save() }
        #expect(years.first == 1 && years.last == 2)
    }

    @Test("a child that merges automatically shows the derived attributes that its parent's save computes")
    func derivedAttributesInChild() throws {
        let parent = try Music.container().makeContext()
        let (artist, album): (Artist, Album) = (try parent.insert(), try parent.insert())
        artist.name = "old"
        try parent.save()
        let child = parent.makeChild()
        child.mergesChangesAutomatically = true
        let copy = try child.existingObject(artist.id)
        #expect(copy.upperName == "OLD" && copy.albumCount == 0)
        artist.name = "new"
        try parent.save()
        #expect(copy.upperName == "NEW")
        album.artist = artist
        try parent.save()
        #expect(copy.albumCount == 1)
    }

    @Test("a child that merges automatically shows what its parent's willSave sets")
    func changesByWillSaveInChild() throws {
        let parent = try Memo.makeContext()
        let memo: Memo = try parent.insert()
        try parent.save()
        let child = parent.makeChild()
        child.mergesChangesAutomatically = true
        let copy = try child.existingObject(memo.id)
        memo.onWillSave = { if memo.title == "new" { memo.title = "saved" } }
        memo.title = "new"
        try parent.save()
        memo.onWillSave = nil
        #expect(copy.title == "saved")
    }
}
