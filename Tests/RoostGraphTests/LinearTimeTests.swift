import Foundation
import RoostCore
import RoostGraph
import Testing

@Suite("Linear time")
struct LinearTimeTests {
    @Test("a change of many rows takes about as long in a list with a limit as in a list of all rows")
    func manyRows() throws {
        let model = try ManagedObjectModel(entities: [EntityDescription("Row", attributes: [.string("name")])])
        let changes = (Int64(1)...50_000).map { key in
            let order = [UInt8(truncatingIfNeeded: key >> 16), UInt8(truncatingIfNeeded: key >> 8)]
            let row = ResultsRow(
                key: key, entity: 0, fingerprint: 0, order: order + [UInt8(truncatingIfNeeded: key)])
            return ResultsRowChange(key: key, row: row, isTouched: true)
        }
        func seconds(limit: Int?) -> Double {
            var list = ResultsList(isOneSection: true)
            let start = processorSeconds()
            let change = list.apply(changes, limit: limit, model: model)
            let duration = processorSeconds() - start
            #expect(change.inserted.map(\.id.key) == Array(1...Int64(limit ?? changes.count)))
            return duration
        }
        let time = seconds(limit: nil)
        // A search for each dropped row among all changed rows would take 50 times as long.
        #expect(seconds(limit: 50) < 10 * time)
    }

    @Test("removing all members of an ordered relationship takes linear time", arguments: [true, false])
    func manyMembers(atOnce: Bool) throws {
        func seconds(count: Int) throws -> Double {
            let context = try Music.container().makeContext()
            let album: Album = try context.insert()
            let tracks: [Track] = try (0..<count).map { _ in try context.insert() }
            album.tracks.append(contentsOf: tracks)
            try context.save()
            let start = processorSeconds()
            if atOnce { album.tracks.removeAll() } else { for track in tracks { album.tracks.remove(track) } }
            let duration = processorSeconds() - start
            #expect(album.tracks.isEmpty && tracks.allSatisfy { $0.album == nil })
            return duration
        }
        let time = try seconds(count: 3000)
        // Quadratic time would be 36 times as long.
        #expect(try seconds(count: 18_000) < 18 * time)
    }

    /// Returns the processor time of this thread, which does not depend on other tests.
    private func processorSeconds() -> Double {
        var time = timespec()
        #expect(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
