import Dispatch
import Foundation
import Roost
import RoostConformance
import RoostCore
import RoostGraph

/// Runs steps on contexts and on a ``PlainGraph``.
///
/// A context merges the saves of others before it changes anything.
@MainActor
final class MergeHistory {
    /// A context, and the saves of others since the context was active.
    @MainActor
    final class Lane {
        let context: ManagedObjectContext
        var notices: [SaveNotice] = []
        var token: Any?
        /// The objects that are observed while the other contexts are active.
        var kept: [[ManagedObject]] = []
        init(_ context: ManagedObjectContext) { self.context = context }
    }

    static let kinds = Array(0..<Step.changeCount + 13)

    let control: StoreMeter
    let container: PersistentContainer
    let lanes: [Lane]
    var active = 0
    /// The content of the store.
    var saved = PlainGraph()
    /// The content that the active context must show.
    var current = PlainGraph()
    /// Whether objects are read only when the steps need them.
    let isLazy: Bool
    let isObservable: Bool

    var context: ManagedObjectContext { lanes[active].context }

    init(_ container: PersistentContainer, control: StoreMeter, isLazy: Bool, isObservable: Bool) {
        (self.container, self.control) = (container, control)
        (self.isLazy, self.isObservable) = (isLazy, isObservable)
        let lanes = (0..<3).map { Lane(container.makeContext("context \($0)")) }
        self.lanes = lanes
        for lane in lanes { lane.context.isObservable = isObservable }
        for (number, lane) in lanes.enumerated() {
            lane.context.mergesChangesAutomatically = number != 1
            lane.token = lane.context.observeSaves { notice in
                for other in lanes where other !== lane { other.notices.append(notice) }
            }
        }
    }

    /// Runs the first of `steps`; a save in the background also uses later steps.
    ///
    /// - Returns: The number of steps that were run.
    func run(_ steps: ArraySlice<Step>) async throws -> Int {
        guard let step = steps.first else { return 0 }
        let (a, b, c) = (step.a, step.b, step.c)
        switch step.kind - Step.changeCount {
        case ..<0: try step.change(context, and: &current, endsEvents: isLazy)
        case 0:
            context.rollback()
            current = saved
            guard !context.hasChanges else { throw Problem("changes after a rollback") }
        case 1, 2, 3:
            try context.save()
            saved = current
            guard !context.hasChanges else { throw Problem("changes after a save: \(context.updatedObjects)") }
            if isLazy { try check("after a save") }
            try continueWith(a % lanes.count, refreshes: b % 3 == 0)
        case 4: context.processPendingChanges()
        case 5:
            guard let id = current.pick(PlainGraph.entities[b % 5], number: a) else { return 1 }
            let object = context.object(with: id)
            if !object.hasChanges { try context.refresh(object, mergingChanges: c % 2 == 0) }
        case 6:
            guard a % 3 == 0 else { return 1 }
            context.reset()
            current = saved
        case 7: try pin()
        case 8, 9: try failCommit()
        case 10: context.mergesChangesAutomatically.toggle()
        default:
            let count = 1 + a % 6
            try await fly(steps.dropFirst().prefix(count), fails: b % 3 == 0, rollsBack: c % 5 == 0)
            return min(steps.count, count + 1)
        }
        return 1
    }

    /// Makes another context active, and merges the saves of the others into it.
    private func continueWith(_ number: Int, refreshes: Bool) throws {
        if isObservable {
            lanes[active].kept = try PlainGraph.entities.map { try context.fetch(FetchRequest(EntityName($0))) }
        }
        active = number
        let lane = lanes[number]
        let watch = isObservable ? try ObservationWatch(context, fetching: []) : nil
        if !context.mergesChangesAutomatically {
            if refreshes {
                try context.refreshAllObjects()
            } else {
                for notice in lane.notices { try context.mergeChanges(notice) }
            }
        }
        lane.notices.removeAll()
        context.processPendingChanges()
        try watch?.check()
        if isLazy, !refreshes { try check("after a merge") }
    }

    /// Pins the context while another context saves.
    private func pin() throws {
        let context = context
        guard !context.hasChanges, !context.mergesChangesAutomatically else { return }
        let request = FetchRequest("Artist")
        let before = try context.fetchIDs(request)
        try context.pin()
        let other = container.makeContext()
        let artist: Artist = try other.insert()
        artist.name = "pinned \(artist.objectID.key)"
        var notices: [SaveNotice] = []
        let token = other.observeSaves { notices.append($0) }
        try other.save()
        withExtendedLifetime(token) {}
        guard try context.fetchIDs(request) == before else { throw Problem("a pinned context fetches a later insert") }
        current.nodes[artist.objectID] = PlainGraph.Node(entity: "Artist", text: artist.name)
        saved = current
        if artist.objectID.key % 2 == 0 {
            context.unpin()
        } else {
            for notice in notices { try context.mergeChanges(notice) }
        }
        guard try context.count(request) == before.count + 1 else {
            throw Problem("a context that is not pinned any more does not count a later insert")
        }
        for lane in lanes where lane.context !== context { lane.notices += notices }
    }

    private func failCommit() throws {
        let context = context
        context.processPendingChanges()
        let before = context.insertedObjects.union(context.updatedObjects).union(context.deletedObjects)
        control.failNextCommit()
        var error: StoreError?
        do throws(StoreError) { try context.save() } catch let failure { error = failure }
        guard control.endCommitFailure() else {
            guard error == nil else { throw Problem("a save that does not commit gave \(error as Any)") }
            return
        }
        guard error?.code == StoreMeter.error.code else { throw Problem("a failed commit gave \(error as Any)") }
        // The save gave tracks their places, so tracks may be pending.
        guard
            context.insertedObjects.union(context.updatedObjects).union(context.deletedObjects).subtracting(before)
                .allSatisfy({ $0.objectID.entity == "Track" })
        else {
            throw Problem("after a failed commit other objects are pending")
        }
    }

    /// Saves in the background, and changes objects before the commit ends.
    private func fly(_ steps: ArraySlice<Step>, fails: Bool, rollsBack: Bool) async throws {
        let context = context
        // Without a change, the save would not commit.
        let artist: Artist = try context.insert()
        artist.name = "in flight \(artist.objectID.key)"
        current.nodes[artist.objectID] = PlainGraph.Node(entity: "Artist", text: artist.name)
        let taken = current
        let (starts, started) = AsyncStream.makeStream(of: Void.self)
        let gate = DispatchSemaphore(value: 0)
        if fails { control.failNextCommit() }
        control.beforeNextCommit {
            started.yield()
            gate.wait()
        }
        let save = Task { @MainActor () -> StoreError? in
            defer { started.finish() }
            do throws(StoreError) { try await context.saveInBackground() } catch { return error }
            return nil
        }
        for await _ in starts { break }
        let result = Result {
            for step in steps {
                var step = step
                step.kind %= Step.changeCount
                try step.change(context, and: &current, endsEvents: isLazy)
            }
            if !isLazy { try check("during a flight") }
            if rollsBack { context.rollback() }
        }
        gate.signal()
        let error = await save.value
        try result.get()
        guard error?.code == (fails ? StoreMeter.error.code : nil) else {
            throw Problem("a save in the background gave \(error as Any)")
        }
        if !fails { saved = taken }
        if rollsBack {
            current = saved
            guard !context.hasChanges else { throw Problem("changes after a rollback during a flight") }
        }
    }

    func check(_ text: String) throws {
        let problems = try current.differences(from: context)
        guard problems.isEmpty else { throw Problem("\(text): \(problems.prefix(6).joined(separator: "; "))") }
        if PlainContent(current) != PlainContent(saved), !context.hasChanges {
            throw Problem("\(text): hasChanges is false")
        }
    }

    static func failure(
        of steps: [Step], in location: StoreLocation, isLazy: Bool, isObservable: Bool = false
    ) async throws -> String? {
        let control = StoreMeter()
        let container = try control.makeContainer(location)
        defer { try? container.close() }
        let history = MergeHistory(container, control: control, isLazy: isLazy, isObservable: isObservable)
        var index = 0
        while index < steps.count {
            let text = "step \(index) (\(steps[index]))"
            do {
                let watch = isObservable ? try ObservationWatch(history.context) : nil
                index += try await history.run(steps[index...])
                if !isLazy { try history.check("after") }
                try watch?.check()
            } catch { return "\(text): \(error)" }
        }
        do {
            try history.context.save()
            history.saved = history.current
            let fresh = container.makeContext()
            let problems =
                try history.saved.differences(from: fresh) + history.saved.wrongDerivations(in: fresh)
            guard problems.isEmpty else {
                return "in a new context: \(problems.prefix(6).joined(separator: "; "))"
            }
            for number in history.lanes.indices {
                try history.continueWith(number, refreshes: false)
                history.current = history.saved
                try history.check("at the end, in context \(number)")
            }
            return nil
        } catch { return "at the end: \(error)" }
    }
}
