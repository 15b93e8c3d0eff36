import Foundation
import Roost
import RoostConformance
import RoostCore
import RoostGraph
import RoostStores

/// A controller, and its first result with all differences applied.
@MainActor
final class ResultsWatch {
    let name: String
    let controller: FetchedResultsController<ManagedObject>
    let request: FetchRequest
    let section: String?
    var rows: [[ObjectID]]
    var differences: [ResultsChange] = []

    init(
        _ name: String, request: FetchRequest, sections: String? = nil, in context: ManagedObjectContext
    ) throws {
        (self.name, self.request, section) = (name, request, sections)
        controller = try FetchedResultsController(request, in: context, sections: sections)
        rows = controller.sections.map { Array($0) }
        controller.onChange = { [weak self] change in
            guard let self else { return }
            rows = change.applying(to: rows)
            differences.append(change)
        }
    }

    /// Returns the problems of the result, compared with a fetch.
    func problems(_ context: ManagedObjectContext) throws -> [String] {
        var problems: [String] = []
        if let error = controller.error { problems.append("\(name): \(error)") }
        let shown = controller.sections.map { Array($0) }
        let fetched = try context.fetchIDs(request)
        if shown.flatMap(\.self) != fetched { problems.append("\(name) has \(shown), a fetch \(fetched)") }
        if rows != shown { problems.append("\(name): the differences give \(rows), not \(shown)") }
        if let section {
            let shownNames = controller.sections.map(\.name)
            var names = try Self.names(section, of: fetched, in: context)
            if shownNames != names { names = try Self.names(section, of: fetched, in: context, onlyFetched: true) }
            if shownNames != names { problems.append("\(name): the sections \(shownNames), not \(names)") }
        }
        for (number, ids) in shown.enumerated() {
            for (item, id) in ids.enumerated() {
                let place = ResultsPlace(section: number, item: item)
                if controller.place(of: context.object(with: id)) != place { problems.append("\(name): a place") }
            }
        }
        for change in differences {
            let ids =
                change.deleted.map(\.id) + change.inserted.map(\.id) + change.moved.map(\.id)
                + change.updated.map(\.id)
            if Set(ids).count != ids.count { problems.append("\(name): an object is there twice") }
        }
        return problems
    }

    /// Returns the names of the sections that contain `ids`, in the order of `ids`.
    ///
    /// If `onlyFetched` is true, an object on the path that fetches omit gives an empty name.
    /// Fetches omit an object that another context deleted, even if this context changed the
    /// object's lists.
    private static func names(
        _ path: String, of ids: [ObjectID], in context: ManagedObjectContext, onlyFetched: Bool = false
    ) throws -> [String] {
        var names: [String] = []
        for id in ids {
            let name = try name(path, of: context.object(with: id), onlyFetched: onlyFetched)
            if names.last != name { names.append(name) }
        }
        return names
    }

    private static func name(_ path: String, of object: ManagedObject, onlyFetched: Bool) throws -> String {
        var current = object
        let names = path.split(separator: ".").map(String.init)
        for name in names.dropLast() {
            // Fetches omit an object that this context deleted, even if another context saves a new reference to it.
            guard let next = try current.object(name), !next.isDeleted else { return "" }
            current = next
            guard onlyFetched, let context = next.context else { continue }
            let itself = FetchRequest.Predicate.comparison(
                .init(left: .evaluatedObject, operator: .equal, right: .constant(.objectID(next.objectID))))
            guard try context.count(FetchRequest(next.objectID.entity, where: itself)) == 1 else { return "" }
        }
        return switch try current.value(names.last ?? "") {
        case .string(let text): text
        case .int(let number): "\(number)"
        default: ""
        }
    }
}

/// Runs events of several contexts, and compares the results of controllers with fetches.
@MainActor
final class ResultsHistory {
    static let kinds: [Int] = Array(0..<Step.changeCount) + Array(Step.changeCount..<Step.changeCount + 18)

    let container: PersistentContainer
    let foreign: PersistentContainer
    let context: ManagedObjectContext
    let other: ManagedObjectContext
    let child: ManagedObjectContext
    let control: StoreMeter
    let undo = UndoStack()
    var watches: [ResultsWatch] = []
    var childWatches: [ResultsWatch] = []
    var noted: Set<ObjectID> = []
    var token: ObservationToken?

    init(_ container: PersistentContainer, control: StoreMeter, variant: Int) throws {
        (self.container, self.control) = (container, control)
        foreign = try PersistentContainer(container.stores, model: container.model, types: Music.types)
        context = container.makeContext("results")
        other = container.makeContext("other")
        for context in [context, other] {
            context.mergesChangesAutomatically = true
            context.mergePolicy = .mergeByPropertyObjectTrump
        }
        context.undo = undo
        if variant % 3 == 0 { context.retainsRegisteredObjects = true }
        child = context.makeChild("child")
        child.mergesChangesAutomatically = true
        watches = try Self.watches(in: context)
        childWatches = try Array(Self.watches(in: child).suffix(6))
    }

    static func watches(in context: ManagedObjectContext) throws -> [ResultsWatch] {
        func request(
            _ entity: EntityName, where text: String?, sortedBy order: [FetchRequest.SortDescriptor], limit: Int? = nil,
            offset: Int? = nil
        ) throws -> FetchRequest {
            FetchRequest(
                entity, where: try text.map { try FetchRequest.Predicate(format: $0) }, sortedBy: order, limit: limit,
                offset: offset)
        }
        return try [
            ResultsWatch("keys", request: request("Track", where: nil, sortedBy: []), in: context),
            ResultsWatch(
                "names", request: request("Artist", where: "rank > 300", sortedBy: [.init("rank", ascending: false)]),
                in: context),
            ResultsWatch(
                "ranks", request: request("Artist", where: nil, sortedBy: ["rank", "name"]), sections: "rank",
                in: context),
            ResultsWatch(
                "folded",
                request: request(
                    "Track", where: "title CONTAINS '1'", sortedBy: [.init("title", options: .caseInsensitive)]),
                in: context),
            ResultsWatch("limit", request: request("Track", where: nil, sortedBy: ["title"], limit: 4), in: context),
            ResultsWatch(
                "offset", request: request("Track", where: nil, sortedBy: ["title"], limit: 3, offset: 2), in: context),
            ResultsWatch(
                "end",
                request: request("Album", where: "year > 1", sortedBy: [.init("title", ascending: false)], offset: 2),
                in: context),
            ResultsWatch(
                "window of artists",
                request: request("Album", where: "artist != nil", sortedBy: ["artist.name", "title"], limit: 3),
                sections: "artist.name", in: context),
            ResultsWatch(
                "albums", request: request("Album", where: nil, sortedBy: ["artist.name", "title"]),
                sections: "artist.name", in: context),
            ResultsWatch(
                "tracks", request: request("Track", where: "album.artist != nil", sortedBy: ["album.title", "title"]),
                in: context),
            ResultsWatch(
                "counts", request: request("Album", where: "tracks.@count > 0", sortedBy: ["title"]), in: context),
            ResultsWatch(
                "any", request: request("Artist", where: "ANY albums.title CONTAINS '2'", sortedBy: ["name"]),
                in: context),
            ResultsWatch(
                "friends", request: request("Artist", where: "friends.@count > 0", sortedBy: ["favorite.title"]),
                in: context),
            ResultsWatch("derived", request: request("Artist", where: nil, sortedBy: ["upperName"]), in: context),
            ResultsWatch(
                "numbers", request: request("Artist", where: "albumCount > 0", sortedBy: ["albumCount"]), in: context),
        ]
    }

    func run(_ step: Step, followedBy rest: ArraySlice<Step>) async throws {
        let (a, b, c) = (step.a, step.b, step.c)
        switch step.kind - Step.changeCount {
        case ..<0:
            try change(step, in: context)
            for next in rest.prefix(a % 3) where next.kind < Step.changeCount { try change(next, in: context) }
        case 0, 1: try save(context)
        case 2: context.rollback()
        case 3: if a % 3 == 0 { context.reset() }
        case 4: undo.undo()
        case 5: undo.redo()
        case 6, 7:
            for next in rest.prefix(1 + a % 3) where next.kind < Step.changeCount { try change(next, in: other) }
            try save(other)
        case 8:
            let abroad = foreign.makeContext("foreign")
            for next in rest.prefix(1 + a % 2) where next.kind < Step.changeCount { try change(next, in: abroad) }
            try save(abroad)
        case 9:
            let text = b % 2 == 0 ? "title CONTAINS '\(c % 10)'" : "title CONTAINS '\(c % 10)\(a % 10)'"
            _ = try container.execute(
                BatchUpdateRequest(
                    "Track", where: try FetchRequest.Predicate(format: text),
                    set: ["title": .constant(.string("batch \(a)"))], result: .objectIDs))
        case 10:
            let text = "title CONTAINS '\(c % 10)\(a % 10)'"
            _ = try container.execute(
                BatchDeleteRequest(
                    FetchRequest(b % 2 == 0 ? "Album" : "Track", where: try FetchRequest.Predicate(format: text)),
                    result: .objectIDs))
        case 11:
            for object in context.registeredObjects where (a + Int(object.objectID.key)) % 3 == 0 && !object.isInserted
            {
                try context.refresh(object, mergingChanges: b % 2 == 0)
            }
        case 12: try context.refreshAllObjects()
        case 13:
            do throws(StoreError) { try await context.saveInBackground() } catch { context.rollback() }
        case 14, 15:
            for next in rest.prefix(1 + a % 3) where next.kind < Step.changeCount { try change(next, in: child) }
            child.processPendingChanges()
            try checkChild("in the child")
            if b % 3 == 0 { child.rollback() } else { try save(child) }
        case 16:
            control.failNextCommit()
            try? context.save()
            _ = control.endCommitFailure()
        default: try failUpdate(rest.first ?? step)
        }
        context.processPendingChanges()
    }

    /// Changes objects while the controllers cannot read, and then lets the controllers fetch
    /// again.
    private func failUpdate(_ step: Step) throws {
        try change(step, in: context)
        control.failNextRead()
        context.processPendingChanges()
        _ = control.endReadFailure()
        _ = try? context.count(FetchRequest("Artist"))
        if watches.contains(where: { $0.controller.error != nil }) { try watches[0].controller.performFetch() }
        for watch in watches + childWatches where watch.controller.error != nil {
            try watch.controller.performFetch()
        }
    }

    private func change(_ step: Step, in context: ManagedObjectContext) throws {
        guard step.kind < Step.changeCount else { return }
        var graph = try PlainGraph(reading: context)
        try step.change(context, and: &graph)
    }

    private func save(_ context: ManagedObjectContext) throws {
        do throws(StoreError) { try context.save() } catch { context.rollback() }
    }

    private func checkChild(_ text: String) throws {
        let problems = try childWatches.flatMap { try $0.problems(child) }
        guard problems.isEmpty else { throw Problem("\(text): \(problems.prefix(3).joined(separator: "; "))") }
        for watch in childWatches { watch.differences.removeAll() }
    }

    func check(_ text: String) throws {
        let problems = try watches.flatMap { try $0.problems(context) }
        guard problems.isEmpty else { throw Problem("\(text): \(problems.prefix(3).joined(separator: "; "))") }
        for watch in watches { watch.differences.removeAll() }
        child.processPendingChanges()
        try checkChild("\(text), in the child")
    }

    /// Runs steps in a new store.
    ///
    /// - Returns: The problem, or nil.
    static func failure(of steps: [Step], in location: StoreLocation) async throws -> String? {
        let control = StoreMeter()
        let container = try control.makeContainer(location)
        defer { try? container.close() }
        let history = try ResultsHistory(container, control: control, variant: steps.first?.a ?? 0)
        for (index, step) in steps.enumerated() {
            do {
                try await history.run(step, followedBy: steps[(index + 1)...])
                try history.check("after step \(index) (\(step))")
            } catch { return "step \(index) (\(step)): \(error)" }
        }
        return nil
    }
}
