internal import Foundation
internal import Roost

extension ObjectCosts {
    /// Measures how fast fetched results follow changes, and how fast a repeated fetch is.
    ///
    /// The times are in nanoseconds for each event.
    func results() throws -> [Line] {
        let context = layer.container.makeContext()
        let shown = min(count, 100_000)
        let order: [FetchRequest.SortDescriptor] = ["title", "plays"]
        let request = Fetch<Album>(sortedBy: order, limit: nil)
        let albums = try context.fetch(Fetch<Album>(limit: shown))
        var window = request
        (window.request.fetchLimit, window.request.fetchOffset) = (50, count / 2)
        var reported = 0
        /// Measures how long a result takes to follow `changed` changed objects, without the changes.
        func follow(_ changed: Int, in request: Fetch<Album>, sections: String? = nil) throws -> Double {
            let controller = try FetchedResultsController(request, in: context, sections: sections)
            controller.onChange = { reported += $0.updated.count + $0.moved.count + $0.inserted.count }
            var number = 0
            return try measure(per: 1) {
                var time = Duration.zero
                for _ in 0..<10 {
                    for _ in 0..<changed {
                        number += 1
                        let album = albums[number * 7_919 % albums.count]
                        album.title = "Title \(number * 31 % 100_000)"
                        album.plays += 1
                    }
                    time += Self.clock { context.processPendingChanges() }
                }
                return time / 10
            }
        }
        let firstFetch = try ContinuousClock().measure { _ = try FetchedResultsController(request, in: context) }
        let first = Self.nanoseconds(firstFetch)
        let one = try follow(1, in: request)
        let sections = try follow(1, in: request, sections: "year")
        let many = try follow(1_000, in: request)
        context.rollback()
        let totals = try ResultsTotals(request, sums: ["plays"], in: context)
        let number = try follow(1, in: window)
        context.rollback()
        let again = try measure(per: 1) {
            albums[3].plays += 1
            context.processPendingChanges()
            return try Self.clock { reported += try context.fetchIDs(request.request).count }
        }
        let objects = try measure(per: 1) {
            albums[3].plays += 1
            context.processPendingChanges()
            return try Self.clock { reported += try context.fetch(request).count }
        }
        context.rollback()
        guard reported > 0, totals.count == count else { return [] }
        return [
            Line(name: "event: result of all rows, first fetch", nanoseconds: first, limit: nil),
            Line(name: "event: one of all rows changed, result updated", nanoseconds: one, limit: 50_000),
            Line(name: "event: the same in sections", nanoseconds: sections, limit: 50_000),
            Line(name: "event: 1 000 of all rows changed, result updated", nanoseconds: many, limit: 5_000_000),
            Line(name: "event: one row changed, IDs fetched again", nanoseconds: again, limit: nil),
            Line(name: "event: one row changed, objects fetched again", nanoseconds: objects, limit: nil),
            Line(name: "event: a window of 50 with an offset, and totals", nanoseconds: number, limit: nil),
        ]
    }

    private static func nanoseconds(_ time: Duration) -> Double {
        Double(time.components.seconds) * 1e9 + Double(time.components.attoseconds) / 1e9
    }
}
