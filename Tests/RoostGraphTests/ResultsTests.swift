import Foundation
import Roost
import RoostConformance
import RoostCore
import RoostGraph
import Testing

@Suite("Followed results")
struct ResultsTests {
    private func container() throws -> PersistentContainer {
        try Music.container()
    }

    private func insertTracks(_ count: Int, into context: ManagedObjectContext) throws -> [Track] {
        try (0..<count).map { number in
            let track: Track = try context.insert()
            (track.title, track.seconds) = ("title \(number)", Int32(number + 1))
            return track
        }
    }

    @Test("a context does not retain its results controllers")
    func lifetime() throws {
        let context = try container().makeContext()
        weak var kept: FetchedResultsController<Track>?
        do {
            let controller = try FetchedResultsController(Fetch<Track>(sortedBy: ["title"]), in: context)
            kept = controller
            _ = try insertTracks(3, into: context)
            context.processPendingChanges()
            #expect(controller.count == 3)
        }
        #expect(kept == nil)
        _ = try insertTracks(1, into: context)
        context.processPendingChanges()
    }

    @Test("results and totals refuse requests that they cannot follow")
    func refusals() throws {
        let context = try container().makeContext()
        func code(_ body: () throws -> Void) -> StoreError.Code? {
            do { try body() } catch { return (error as? StoreError)?.code }
            return nil
        }
        #expect(
            code { _ = try FetchedResultsController(Fetch<Track>(where: "nothing == 1"), in: context) }
                == .unknownProperty)
        #expect(
            code { _ = try FetchedResultsController(Fetch<Track>(), in: context, sections: "album") } == .invalidRequest
        )
        #expect(
            code { _ = try FetchedResultsController(Fetch<Track>(), in: context, sections: "playlists.name") }
                == .invalidRequest)
        #expect(code { _ = try ResultsTotals(Fetch<Track>(limit: 3), in: context) } == .invalidRequest)
        #expect(code { _ = try ResultsTotals(Fetch<Track>(), sums: ["title"], in: context) } == .invalidRequest)
        #expect(code { _ = try ResultsTotals(Fetch<Track>(), sums: ["none"], in: context) } == .unknownProperty)
    }

    @Test(
        "numbers that are equal in the order are in one section, before and after an update",
        arguments: [-0.0, -Double.nan], [AttributeType.double, .date])
    func equalNumbers(_ number: Double, type: AttributeType) throws {
        func value(_ number: Double) -> Value {
            type == .date ? .date(Date(timeIntervalSinceReferenceDate: number)) : .double(number)
        }
        let model = try ManagedObjectModel(entities: [
            EntityDescription("Row", attributes: [AttributeDescription("number", type: type)])
        ])
        let context = try PersistentContainer(.memory, model: model).makeContext()
        try context.insert("Row")["number"] = value(number)
        let controller = try FetchedResultsController(FetchRequest("Row"), in: context, sections: "number")
        try context.insert("Row")["number"] = value(-number)
        context.processPendingChanges()
        #expect(controller.sections.map(\.name) == [number.isNaN ? "nan" : "0.0"])
        #expect(controller.sections.first?.count == 2)
    }

    @Test("a window that onChange sets during a fetch of the result remains")
    func windowDuringFetch() throws {
        let context = try container().makeContext()
        let controller = try FetchedResultsController(Fetch<Track>(sortedBy: ["title"]), in: context)
        var failure: (any Error)?
        controller.onChange = { [weak controller] _ in
            controller?.onChange = nil
            do { try controller?.setWindow(offset: nil, limit: 1) } catch { failure = error }
        }
        _ = try insertTracks(3, into: context)
        try controller.performFetch()
        #expect(failure == nil && controller.count == 1)
    }

    @Test("if a new window cannot be fetched, the result keeps the old window, even for earlier changes")
    func failedWindow() throws {
        let meter = StoreMeter()
        let context = try meter.makeContainer(.memory).makeContext()
        let tracks = try insertTracks(3, into: context)
        try context.save()
        let controller = try FetchedResultsController(Fetch<Track>(sortedBy: ["title"]), in: context)
        tracks[0].title = "new"
        meter.failNextRead()
        #expect(throws: StoreError.self) { try controller.setWindow(offset: nil, limit: 1) }
        #expect(controller.count == 3)
    }

    @Test("results of requests that exclude pending changes follow only saves")
    func savedOnly() throws {
        let context = try container().makeContext()
        var request = Fetch<Track>(sortedBy: ["title"])
        request.includesPendingChanges = false
        let controller = try FetchedResultsController(request, in: context)
        let totals = try ResultsTotals(request, sums: ["seconds"], in: context)
        _ = try insertTracks(3, into: context)
        context.processPendingChanges()
        #expect(controller.count == 0 && totals.count == 0)
        try context.save()
        #expect(controller.count == 3 && totals.sum("seconds") == 6)
    }

    @Test("totals call `onChange` only for events that change them")
    func unchangedTotals() throws {
        let context = try container().makeContext()
        let tracks = try insertTracks(3, into: context)
        try context.save()
        let totals = try ResultsTotals(Fetch<Track>(), sums: ["seconds"], in: context)
        var callCount = 0
        totals.onChange = { callCount += 1 }
        tracks[0].title = "other"
        context.processPendingChanges()
        #expect(callCount == 0)
        tracks[0].seconds = 2
        context.processPendingChanges()
        #expect(callCount == 1 && totals.sum("seconds") == 7)
    }

    @Test("a results controller creates only the objects that it is asked for")
    func pages() throws {
        let container = try container()
        let filling = container.makeContext()
        _ = try insertTracks(1_000, into: filling)
        try filling.save()
        let context = container.makeContext()
        let controller = try FetchedResultsController(Fetch<Track>(sortedBy: ["seconds"]), in: context)
        #expect(context.registeredObjects.isEmpty)
        let track = controller[ResultsPlace(section: 0, item: 700)]
        #expect(track.seconds == 701)
        #expect(context.registeredObjects.count == 1)
        #expect(controller.objects.map { $0.seconds } == Array(Int32(1)...1_000))
    }

    @Test("deleting objects does not change sections that were read before")
    func sectionValues() throws {
        let context = try container().makeContext()
        let tracks = try insertTracks(300, into: context)
        let controller = try FetchedResultsController(Fetch<Track>(sortedBy: ["seconds"]), in: context)
        let before = controller.sections
        for track in tracks.prefix(200) { context.delete(track) }
        context.processPendingChanges()
        #expect(before.map(\.count) == [300] && controller.sections.map(\.count) == [100])
        #expect(Array(before[0]) == tracks.map(\.objectID))
        #expect(before[0][250] == tracks[250].objectID && controller.sections[0][50] == tracks[250].objectID)
        #expect(before != controller.sections && before[0].indexTitle == "")
    }

    @Test("results show new objects after the save that gives them final keys")
    @MainActor
    func temporaryKeys() throws {
        let container = try container()
        let context = container.viewContext
        let controller = try FetchedResultsController(Fetch<Track>(sortedBy: ["title"]), in: context)
        let tracks = try insertTracks(3, into: context)
        context.processPendingChanges()
        try context.save()
        #expect(controller.objects == tracks)
    }

    @Test("results omit an object that another context deleted, even after a refresh keeps the object's changes")
    func refreshOfDeletedElsewhere() throws {
        let container = try Music.container()
        let (context, other) = (container.makeContext(), container.makeContext())
        context.mergesChangesAutomatically = true
        let album: Album = try context.insert()
        let track: Track = try context.insert()
        (album.title, track.title) = ("Blue", "River")
        try context.save()
        let controller = try FetchedResultsController(FetchRequest("Album"), in: context)
        #expect(controller.count == 1)
        // This changes the list, not the album's row.
        album.tracks.append(track)
        context.processPendingChanges()
        other.delete(other.object(with: album.objectID))
        try other.save()
        context.processPendingChanges()
        #expect(try context.fetchIDs(FetchRequest("Album")).isEmpty && controller.count == 0)
        try context.refresh(album, mergingChanges: true)
        context.processPendingChanges()
        #expect(try context.fetchIDs(FetchRequest("Album")).isEmpty && controller.count == 0)
    }
}

@Suite("Exact sums")
struct ExactSumTests {
    @Test("an exact sum of doubles rounds once and loses nothing when numbers are removed")
    func doubles() {
        var sum = ExactSum(.double)
        let tiny = Double.leastNonzeroMagnitude
        let numbers: [Double] = [
            1e300, 0.1, -1e300, tiny, 2.2250738585072014e-308, -0.3, 1e16, 1, -1e16, 123_456_789.125,
            .greatestFiniteMagnitude,
            -.greatestFiniteMagnitude, -tiny, -2.2250738585072014e-308,
        ]
        for number in numbers { sum.add(.double(number)) }
        for number in numbers.dropFirst(2) { sum.add(.double(number), isRemoved: true) }
        sum.add(.double(1e300), isRemoved: true)
        #expect(sum.value == .double(0.1))
        sum.add(.double(0.1), isRemoved: true)
        #expect(sum.value == .double(0))
        sum.add(.double(tiny))
        #expect(sum.value == .double(tiny))
        sum.add(.double(-3 * tiny))
        #expect(sum.value == .double(tiny - 3 * tiny))
        for special in [Double.infinity, .nan, -.infinity] {
            var other = sum
            other.add(.double(special))
            guard case .double(let number) = other.value else {
                Issue.record("the sum is \(other.value), not a double")
                continue
            }
            #expect(number.isNaN ? special.isNaN : number == special)
            other.add(.double(special), isRemoved: true)
            #expect(other.value == sum.value)
        }
    }

    @Test(
        "an exact sum of doubles agrees with additions that need no rounding",
        arguments: [1.0, 1024, 0x1p-1060, 0x1p900])
    func scaled(_ unit: Double) {
        var (sum, expected) = (ExactSum(.double), Int64(0))
        var state: UInt64 = 7
        for _ in 0..<2_000 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let number = Int64(bitPattern: state) >> 24
            sum.add(.double(Double(number) * unit))
            expected += number
        }
        #expect(sum.value == .double(Double(expected) * unit))
    }

    @Test("an exact sum of integers beyond 64 bits is a double, and null adds nothing")
    func wholeNumbers() {
        var whole = ExactSum(.integer64)
        whole.add(.int(.max))
        whole.add(.int(.max))
        whole.add(.null)
        #expect(whole.value == .double(0x1p64))
        whole.add(.int(.max), isRemoved: true)
        #expect(whole.value == .int(.max))
    }

    @Test("an exact sum of decimals has no rounding error")
    func decimals() {
        var decimal = ExactSum(.decimal)
        for _ in 0..<10 { decimal.add(.decimal(Decimal(string: "0.1") ?? 0)) }
        #expect(decimal.value == .decimal(1))
    }
}
