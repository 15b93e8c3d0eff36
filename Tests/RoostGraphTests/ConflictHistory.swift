import Foundation
import Roost
import RoostConformance
import RoostCore
import RoostGraph

/// Runs each step on one of several contexts, and on the ``PlainGraph`` of that context.
///
/// Each context keeps what it read, so it shows its own changes on the content of its last refresh.
@MainActor
final class ConflictHistory {
    @MainActor
    final class Lane {
        let context: ManagedObjectContext
        /// The content that the context read.
        var base = PlainGraph()
        /// The content that the context must show.
        var current = PlainGraph()
        var kept: [ObjectID: ManagedObject] = [:]
        /// The saves of other contexts that this context has not merged.
        var notices: [SaveNotice] = []
        var token: Any?
        /// Whether a deletion changed objects that this context never showed.
        var hasStrangers = false

        init(_ context: ManagedObjectContext) { self.context = context }
    }

    /// The kinds of steps; a repeated kind is chosen more often.
    static let kinds: [Int] = {
        var kinds = Array(repeating: 4, count: 3) + Array(repeating: 23, count: 3) + [0, 1] + Array(5..<23)
        kinds += Array(repeating: Step.changeCount, count: 9)
        kinds += Array(repeating: Step.changeCount + 5, count: 9)
        return kinds + Array(Step.changeCount + 7..<Step.changeCount + 16)
    }()

    let control: StoreMeter
    let container: PersistentContainer
    let lanes: [Lane]
    var active = 0
    var saved = PlainGraph()
    /// The count of each outcome.
    var outcomes: [String: Int] = [:]

    var lane: Lane { lanes[active] }

    init(_ container: PersistentContainer, control: StoreMeter) {
        (self.container, self.control) = (container, control)
        let lanes = (0..<3).map { Lane(container.makeContext("context \($0)")) }
        self.lanes = lanes
        lanes[2].context.mergesChangesAutomatically = true
        for lane in lanes {
            lane.token = lane.context.observeSaves { notice in
                for other in lanes where other !== lane { other.notices.append(notice) }
            }
        }
    }

    func run(_ step: Step) async throws {
        let lane = lane
        switch step.kind {
        case ..<Step.changeCount: try change(step)
        case Step.changeCount..<Step.changeCount + 5:
            let policy = PlainPolicy.allCases[step.c % PlainPolicy.allCases.count]
            try await save(policy, inBackground: step.a % 4 == 0, refreshes: step.b % 2 == 0)
        case Step.changeCount + 5, Step.changeCount + 6:
            active = step.a % lanes.count
            if self.lane.context.mergesChangesAutomatically {
                try refresh(self.lane) { self.lane.context.processPendingChanges() }
            } else {
                self.lane.context.processPendingChanges()
            }
        case Step.changeCount + 7: try refresh(lane) { try lane.context.refreshAllObjects() }
        case Step.changeCount + 8: try refresh(lane) { try mergeNotices(lane) }
        case Step.changeCount + 9: try rollBack(lane)
        case Step.changeCount + 10: reset(lane)
        case Step.changeCount + 11, Step.changeCount + 12:
            try await failCommit(
                PlainPolicy.allCases[step.c % PlainPolicy.allCases.count], inBackground: step.a % 3 == 0)
        case Step.changeCount + 13: try failRead(step)
        case Step.changeCount + 14: try failFetch(step)
        default: try failDelete(step)
        }
    }

    /// Compares what the active context shows and fetches with the expected content.
    func check(_ text: String) throws {
        let context = lane.context
        for id in lane.current.nodes.keys where lane.kept[id] == nil { lane.kept[id] = context.object(with: id) }
        var problems: [String] = []
        let (base, mine) = (PlainContent(lane.base), PlainContent(lane.current))
        for entity in PlainGraph.entities where !lane.hasStrangers {
            let request = FetchRequest(EntityName(entity))
            let found = try context.fetchIDs(request)
            let count = try context.count(request)
            if count != found.count { problems.append("the count of \(entity) is \(count), not \(found.count)") }
            var wanted = Set(saved.ids(entity)).filter { base.rows[$0] == nil || mine.rows[$0] != nil }
            wanted.formUnion(mine.rows.keys.filter { mine.rows[$0]?.entity == entity && base.rows[$0] == nil })
            // If another context deleted an object that this context changed, fetches may omit the object.
            let open = mine.rows.keys.filter { saved.nodes[$0] == nil && base.rows[$0] != nil }
            if Set(found).subtracting(open) != wanted.subtracting(open) {
                problems.append("\(entity): fetched \(found), not \(wanted); pending are \(pending(context))")
            }
        }
        problems += try lane.current.differences(fromObjectsOf: context)
        if mine != base, !context.hasChanges { problems.append("hasChanges is false") }
        guard problems.isEmpty else { throw Problem("\(text): \(problems.prefix(6).joined(separator: "; "))") }
    }

    /// Saves some objects, and makes all contexts read the objects.
    private func fill() throws {
        let context = container.makeContext()
        for number in [0, 0, 0, 1, 1, 1, 2, 2, 2, 2, 3, 3, 4, 4] {
            try Step(kind: 0, a: number, b: 1, c: 0).change(context, and: &saved)
        }
        for number in 0..<4 {
            for kind in [5, 9, 11, 13, 17, 18] {
                try Step(kind: kind, a: number, b: number + 1, c: 1).change(context, and: &saved)
            }
        }
        try context.save()
        for number in lanes.indices {
            active = number
            let lane = lane
            (lane.base, lane.current) = (saved, saved)
            lane.context.processPendingChanges()
            try check("at the beginning")
        }
    }

    // MARK: Steps

    private func change(_ step: Step) throws {
        let lane = lane
        let before = lane.current
        try step.change(lane.context, and: &lane.current, sharesTitles: true, endsEvents: true)
        let gone = before.nodes.keys.filter { lane.current.nodes[$0] == nil }
        if saved.nodes.contains(where: { id, node in
            before.nodes[id] == nil && lane.base.nodes[id] == nil
                && node.one["favorite"].map { gone.contains($0) } ?? false
        }) {
            lane.hasStrangers = true
        }
        keepOldFavorites(of: lane, before: before)
    }

    /// Restores, in the expected content, references to deleted objects that the context still
    /// shows.
    ///
    /// Deleting an object clears a reference without an inverse only if the store has the reference
    /// or this context changed the referring object.
    private func keepOldFavorites(of lane: Lane, before: PlainGraph) {
        for (id, node) in before.nodes {
            guard let old = node.one["favorite"], lane.current.nodes[old] == nil, lane.current.nodes[id] != nil,
                saved.nodes[id]?.one["favorite"] != old, !lane.context.object(with: id).hasChanges
            else { continue }
            lane.current.nodes[id]?.one["favorite"] = old
        }
    }

    private func reset(_ lane: Lane) {
        lane.context.reset()
        lane.hasStrangers = false
        lane.kept.removeAll()
        lane.notices.removeAll()
        (lane.base, lane.current) = (saved, saved)
        // Reads and keeps all objects, so that the context shows this state when it is active again.
        for id in saved.nodes.keys { lane.kept[id] = lane.context.object(with: id) }
        _ = try? PlainGraph(reading: lane.context)
    }

    private func rollBack(_ lane: Lane) throws {
        lane.context.rollback()
        lane.hasStrangers = false
        guard !lane.context.hasChanges else { throw Problem("changes after a rollback") }
        let isFresh = lane.base == saved
        lane.current = lane.base
        // A rollback discards lists that were read, and the store may have other members now.
        if !isFresh { try refresh(lane) { try lane.context.refreshAllObjects() } }
    }

    private func mergeNotices(_ lane: Lane) throws {
        for notice in lane.notices { try lane.context.mergeChanges(notice) }
    }

    /// Merges the saves of other contexts by running `body`, and checks the result.
    private func refresh(_ lane: Lane, _ body: () throws -> Void) throws {
        let base = PlainContent(lane.base)
        var mine = PlainContent(lane.current)
        let stored = PlainContent(saved)
        var merge = PlainMerge(base: base, mine: mine, stored: stored, policy: .objectTrump, isSave: false)
        if lane.hasStrangers || !merge.ghosts.isEmpty || merge.hasLostLinks || !merge.result.dangling.isEmpty
            || merge.loose != merge.result.unsettled
        {
            // The rules do not define all content in these cases, so the context rolls back.
            lane.context.rollback()
            lane.hasStrangers = false
            mine = base
            lane.current = lane.base
            merge = PlainMerge(base: base, mine: mine, stored: stored, policy: .objectTrump, isSave: false)
        }
        try body()
        lane.context.processPendingChanges()
        if let error = lane.context.pendingError { throw Problem("latched after a merge: \(error)") }
        lane.notices.removeAll()
        lane.base = saved
        guard merge.hasChanges else {
            lane.current = saved
            return
        }
        let shown = try PlainGraph(reading: lane.context, ids: merge.result.rows.keys.sorted { $0.key < $1.key })
        let problems = shown.inconsistencies + merge.differences(from: PlainContent(shown))
        guard problems.isEmpty else {
            throw Problem(
                "after a merge: \(problems.prefix(6).joined(separator: "; "))\n\(PlainMerge.report(base, mine: mine, stored: stored))"
            )
        }
        lane.current = shown
    }

    private func pending(_ context: ManagedObjectContext) -> [Set<ObjectID>] {
        [context.insertedObjects, context.updatedObjects, context.deletedObjects].map { Set($0.map(\.objectID)) }
    }

    /// Whether a failed save left the same objects pending.
    ///
    /// The save may renumber tracks, and drop deletions of objects that another context deleted.
    private func isPending(_ before: [Set<ObjectID>], in context: ManagedObjectContext) -> Bool {
        let now = pending(context)
        return now[0] == before[0] && now[2].isSubset(of: before[2])
            && before[2].subtracting(now[2]).allSatisfy { saved.nodes[$0] == nil } && now[1].isSuperset(of: before[1])
            && now[1].subtracting(before[1]).allSatisfy { $0.entity == "Track" }
    }

    private func commit(_ context: ManagedObjectContext, inBackground: Bool) async -> StoreError? {
        do throws(StoreError) {
            if inBackground { try await context.saveInBackground() } else { try context.save() }
            return nil
        } catch { return error }
    }

    private func expectUnchangedStore(_ text: String) throws {
        let problems = try saved.differences(from: container.makeContext())
        guard problems.isEmpty else {
            throw Problem("\(text) wrote something: \(problems.prefix(6).joined(separator: "; "))")
        }
    }

    /// A save, and its effect according to the rules.
    private struct Save {
        let text: String
        let policy: PlainPolicy
        let merge: PlainMerge
        let base: PlainContent
        let mine: PlainContent
        let stored: PlainContent
        /// The pending objects before the save.
        let pending: [Set<ObjectID>]

        var report: String { PlainMerge.report(base, mine: mine, stored: stored) }
    }

    private func save(_ policy: PlainPolicy, inBackground: Bool, refreshes: Bool) async throws {
        let lane = lane
        let context = lane.context
        context.processPendingChanges()
        let (base, mine, stored) = (PlainContent(lane.base), PlainContent(lane.current), PlainContent(saved))
        var merge = PlainMerge(base: base, mine: mine, stored: stored, policy: policy)
        if lane.hasStrangers {
            merge.isOpen = true
            merge.isResolved = true
            merge.codes.formUnion([.conflict, .deleteDenied, .objectNotFound])
            merge.loose.formUnion(stored.rows.keys.filter { base.rows[$0] == nil })
        }
        // A save reads an object again, without a conflict, if others changed it and changed it back.
        let reader = container.makeContext()
        let isRead = mine.rows.keys.contains { id in
            base.rows[id] != nil && base.rows[id] != mine.rows[id] && stored.rows[id] != nil
                && !(lane.kept[id]?.isFault ?? true) && lane.kept[id]?.version != version(of: id, in: reader)
        }
        context.mergePolicy = policy.policy
        let save = Save(
            text: "a save with \(policy)\(inBackground ? " in the background" : "")", policy: policy,
            merge: merge, base: base, mine: mine, stored: stored, pending: pending(context))
        if let error = await commit(context, inBackground: inBackground) { return try check(save, failedWith: error) }
        outcomes["\(policy): \(merge.isResolved ? "resolved" : "saved")", default: 0] += 1
        let actual = try contentAfter(save)
        // A save that changes the albums of an artist reads the artist's row.
        let isStale = actual.ids("Artist").contains { !base.hasEqualRow($0, in: stored) }
        saved = actual
        lane.hasStrangers = false
        if policy.isMine, !merge.ghosts.isEmpty {
            // An object that is inserted again has version 1. If other contexts read version 1 of the
            // old object, stores cannot detect the conflict.
            for other in lanes where other !== lane { reset(other) }
        }
        if context.mergesChangesAutomatically {
            (lane.base, lane.current) = (saved, saved)
        } else if merge.isResolved || isStale || isRead || refreshes || inBackground {
            // A save in the background also discards lists that were read.
            lane.base = saved
            lane.current = saved
            try refresh(lane) {
                if refreshes { try context.refreshAllObjects() } else { try mergeNotices(lane) }
            }
        } else {
            lane.base = lane.current
        }
    }

    private func check(_ save: Save, failedWith error: StoreError) throws {
        let context = lane.context
        outcomes["\(save.policy): \(error.code)", default: 0] += 1
        guard save.merge.codes.contains(error.code) else {
            throw Problem("\(save.text) failed: \(error)\n\(save.report)")
        }
        try expectUnchangedStore(save.text)
        if save.policy.fails || !save.merge.isResolved {
            guard isPending(save.pending, in: context) else {
                throw Problem(
                    "after \(save.text) other objects are pending: \(pending(context)), not \(save.pending)")
            }
            // A save that fails without a conflict may take over track places that other contexts saved.
            if save.policy.fails || save.base == save.stored {
                return try check("after \(save.text) that failed")
            }
        }
        // The failed save may have resolved some conflicts.
        try rollBack(lane)
    }

    /// Reads and checks the store after a successful save.
    private func contentAfter(_ save: Save) throws -> PlainGraph {
        let context = lane.context
        guard save.merge.codes.isEmpty || save.merge.isOpen else {
            throw Problem("\(save.text) did not fail, but must with one of \(save.merge.codes)\n\(save.report)")
        }
        guard !context.hasChanges else {
            let changed = context.registeredObjects.filter(\.hasChanges)
            throw Problem("after \(save.text), changes are pending: \(changed)\n\(save.report)")
        }
        let fresh = container.makeContext()
        let actual = try PlainGraph(reading: fresh)
        let problems =
            try actual.inconsistencies + actual.wrongDerivations(in: fresh)
            + PlainContent(actual).sharing.map { "\($0) have one title" }
            + save.merge.differences(from: PlainContent(actual))
        guard problems.isEmpty else {
            throw Problem(
                "after \(save.text), in the store: \(problems.prefix(6).joined(separator: "; "))\n\(save.report)")
        }
        return actual
    }

    private func version(of id: ObjectID, in context: ManagedObjectContext) -> UInt32? {
        let object = context.object(with: id)
        _ = object[PlainGraph.names("\(id.entity)").0]
        return object.version
    }

    private func failCommit(_ policy: PlainPolicy, inBackground: Bool) async throws {
        let context = lane.context
        context.processPendingChanges()
        let merge = PlainMerge(
            base: PlainContent(lane.base), mine: PlainContent(lane.current), stored: PlainContent(saved),
            policy: policy)
        context.mergePolicy = policy.policy
        let before = pending(context)
        control.failNextCommit()
        let error = await commit(context, inBackground: inBackground)
        let failed = control.endCommitFailure()
        guard failed else {
            guard error == nil, !merge.hasChanges || lane.hasStrangers else {
                throw Problem("a save did not commit; it has the error \(error as Any)")
            }
            return
        }
        outcomes["failed commit", default: 0] += 1
        guard error?.code == StoreMeter.error.code else { throw Problem("a failed commit gave \(error as Any)") }
        try expectUnchangedStore("a failed commit")
        guard isPending(before, in: context) else {
            throw Problem("after a failed commit other objects are pending: \(pending(context)), not \(before)")
        }
    }

    /// Turns an object into a fault and returns it.
    ///
    /// Returns nil if the object has changes or the context is not up to date.
    private func unreadObject(_ step: Step, of entities: [String]) throws -> ManagedObject? {
        let lane = lane
        // A second read must find the same content.
        guard lane.base == saved, let id = lane.base.pick(entities[step.b % entities.count], number: step.a),
            lane.base.nodes[id] == lane.current.nodes[id]
        else { return nil }
        let object = lane.context.object(with: id)
        guard !object.hasChanges else { return nil }
        lane.context.processPendingChanges()
        try lane.context.refresh(object, mergingChanges: false)
        return object
    }

    private func failRead(_ step: Step) throws {
        let context = lane.context
        guard let object = try unreadObject(step, of: PlainGraph.entities) else { return }
        let before = pending(context)
        control.failNextRead()
        let value = object[PlainGraph.names("\(object.objectID.entity)").0]
        guard control.endReadFailure() else { throw Problem("\(object.objectID) was not read") }
        guard value == .null, context.pendingError != nil else { throw Problem("a failed read gave \(value)") }
        try expectLatched(before)
    }

    /// Saves, and requires that the save throws the read's error and writes nothing.
    private func expectLatched(_ before: [Set<ObjectID>]) throws {
        let context = lane.context
        outcomes["failed read", default: 0] += 1
        do throws(StoreError) {
            try context.save()
            throw StoreError(.invalidRequest, "no error")
        } catch {
            guard error.code == StoreMeter.error.code else {
                throw Problem("after a failed read, a save gave \(error)")
            }
        }
        try expectUnchangedStore("a save after a failed read")
        guard isPending(before, in: context) else { throw Problem("after a failed read other objects are pending") }
    }

    private func failFetch(_ step: Step) throws {
        let context = lane.context
        context.processPendingChanges()
        control.failNextRead()
        do throws(StoreError) {
            _ = try context.fetch(FetchRequest(EntityName(PlainGraph.entities[step.b % 5])))
            throw StoreError(.invalidRequest, "no error")
        } catch {
            _ = control.endReadFailure()
            guard error.code == StoreMeter.error.code else { throw Problem("a fetch that cannot read gave \(error)") }
        }
    }

    /// Deletes an object while a read for its delete rules fails.
    private func failDelete(_ step: Step) throws {
        let lane = lane
        guard let object = try unreadObject(step, of: ["Artist", "Album", "Track", "Passport"]) else { return }
        let id = object.objectID
        // The row is read first, so that a later read fails.
        if step.c % 2 == 0 { _ = object[PlainGraph.names("\(id.entity)").0] }
        control.failNextRead()
        lane.context.delete(object)
        lane.context.processPendingChanges()
        let failed = control.endReadFailure()
        lane.current.delete(id)
        lane.kept[id] = nil
        guard failed else { return }
        outcomes["failed delete", default: 0] += 1
        do throws(StoreError) {
            try lane.context.save()
            throw StoreError(.invalidRequest, "no error")
        } catch {
            guard error.code == StoreMeter.error.code else {
                throw Problem("after a failed deletion, a save gave \(error)")
            }
        }
        try expectUnchangedStore("a save after a failed deletion")
    }

    /// Runs steps in a new store.
    ///
    /// - Returns: The problem, or nil.
    static func failure(
        of steps: [Step], in location: StoreLocation, outcomes: OutcomeCounts? = nil
    ) async throws -> String? {
        let control = StoreMeter()
        let container = try control.makeContainer(location)
        defer { try? container.close() }
        let history = ConflictHistory(container, control: control)
        try history.fill()
        defer { outcomes?.add(history.outcomes) }
        for (index, step) in steps.enumerated() {
            do {
                try await history.run(step)
                try history.check("after step \(index) (\(step))")
            } catch { return "step \(index) (\(step)): \(error)" }
        }
        for lane in history.lanes {
            do {
                history.active = history.lanes.firstIndex { $0 === lane } ?? 0
                try history.rollBack(lane)
                try history.refresh(lane) { try lane.context.refreshAllObjects() }
                try history.check("at the end")
            } catch { return "at the end: \(error)" }
        }
        return nil
    }
}

@MainActor
final class OutcomeCounts {
    var counts: [String: Int] = [:]
    func add(_ other: [String: Int]) { counts.merge(other, uniquingKeysWith: +) }
}
