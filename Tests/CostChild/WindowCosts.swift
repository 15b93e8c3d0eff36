import CallCounter
import Foundation
import Roost
import RoostCore
import RoostGraph

extension GraphCosts {
    /// Prints the memory of a `FetchedResultsController` for `count` albums: after the fetch, after
    /// events, and the peak.
    func window(of count: Int) throws {
        let filling = container.makeContext()
        for start in stride(from: 0, to: count, by: 10_000) {
            try insert(min(10_000, count - start), into: filling)
            try filling.save()
            filling.reset()
        }
        for (name, limit, offset) in [
            ("first window", 50, nil), ("window in the middle", 50, count / 2), ("all rows", nil, nil),
        ] as [(String, Int?, Int?)] {
            let request = Fetch<Album>(sortedBy: ["title", "plays"], limit: limit, offset: offset)
            // The first fetch is not counted, because it creates statements and pages.
            _ = try FetchedResultsController(request, in: container.makeContext())
            let context = container.makeContext()
            let start = callcounter_bytes_in_use()
            let peak = MemoryPeak()
            let controller = try FetchedResultsController(request, in: context)
            let fetched = callcounter_bytes_in_use()
            for round in 0..<20 {
                for item in 0..<min(50, controller.count) {
                    controller[ResultsPlace(section: 0, item: item)].rating = Double(round)
                }
                context.processPendingChanges()
            }
            context.rollback()
            context.processPendingChanges()
            let followed = callcounter_bytes_in_use()
            print("\(name), kept\t\(Double(fetched) - Double(start))")
            print("\(name), kept after events\t\(Double(followed) - Double(start))")
            print("\(name), memory at most\t\(Double(peak.bytes))")
            withExtendedLifetime(controller) {}
        }
        try store.close()
    }
}

/// The peak of the process's memory, mapped files included, above the memory at the start.
private struct MemoryPeak {
    private let start: Int

    init() {
        // If the system cannot reset the peak, the peak counts from the start of the process.
        try? Data("5".utf8).write(to: URL(fileURLWithPath: "/proc/self/clear_refs"))
        start = Self.bytes("VmRSS:")
    }

    var bytes: Int { max(0, Self.bytes("VmHWM:") - start) }

    /// Returns a size from the status of the process, in bytes; 0 if unknown.
    private static func bytes(_ name: String) -> Int {
        guard let status = FileManager.default.contents(atPath: "/proc/self/status") else { return 0 }
        for line in String(decoding: status, as: UTF8.self).split(separator: "\n") where line.hasPrefix(name) {
            let words = line.split(whereSeparator: \.isWhitespace)
            return words.dropFirst().first.flatMap { Int($0) }.map { $0 * 1024 } ?? 0
        }
        return 0
    }
}
