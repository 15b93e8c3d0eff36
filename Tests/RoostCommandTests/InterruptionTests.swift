import Foundation
import Testing

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A conversion that is ended from outside at random instants.
@Suite("An interrupted conversion", .serialized)
struct InterruptionTests {
    /// Starts a conversion of `a` into `type:b`, sends a signal after a random part of the time that a whole one takes, and waits.
    private func interrupt(
        _ place: Workplace, _ type: String, _ signal: Int32, _ duration: Duration, _ numbers: inout SeededNumbers
    ) throws -> CommandResult {
        let run = try place.start(["convert", "a", "\(type):b", "--quiet"])
        let microseconds = duration / .microseconds(1)
        // The instant is what the test varies: nothing is waited for.
        usleep(UInt32(Double(numbers.next() % 1000) / 1000 * microseconds))
        kill(run.process.processIdentifier, signal)
        return try run.wait()
    }

    private func wholeDuration(_ place: Workplace, _ type: String) throws -> Duration {
        let clock = ContinuousClock()
        let start = clock.now
        try #require(try place.roost("convert", "a", "\(type):whole").code == 0)
        return clock.now - start
    }

    @Test("killed at 50 random instants leaves no destination or a complete one", arguments: Workplace.fileTypes)
    func killed(type: String) throws {
        let place = try Workplace()
        try place.makeStore("sqlite", "a", objects: 8000)
        let source = try place.bytes("a")
        let duration = try wholeDuration(place, type)
        let seed = UInt64.random(in: 0 ... .max)
        var numbers = SeededNumbers(seed)
        for round in 0..<50 {
            _ = try interrupt(place, type, SIGKILL, duration, &numbers)
            if FileManager.default.fileExists(atPath: place.file("b")) {
                let diff = try place.roost("diff", "a", "b")
                #expect(diff.code == 0, "seed \(seed), round \(round): \(diff)")
                try FileManager.default.removeItem(atPath: place.file("b"))
            }
        }
        // Once more, undisturbed: it finishes, and what the killed ones left is gone.
        let last = try place.roost("convert", "a", "\(type):b")
        #expect(last.code == 0, "seed \(seed): \(last)")
        #expect(try place.roost("diff", "a", "b").code == 0)
        #expect(try place.names().filter { $0.contains("roost-tmp") } == [], "seed \(seed)")
        #expect(try place.bytes("a") == source)
    }

    @Test(
        "stopped by Ctrl-C or SIGTERM leaves no trace and exits 130", arguments: Workplace.fileTypes, [SIGINT, SIGTERM])
    func stopped(type: String, signal: Int32) throws {
        let place = try Workplace()
        try place.makeStore("sqlite", "a", objects: 8000)
        let duration = try wholeDuration(place, type)
        let seed = UInt64.random(in: 0 ... .max)
        var numbers = SeededNumbers(seed)
        var stopped = 0
        for round in 0..<20 {
            let result = try interrupt(place, type, signal, duration, &numbers)
            let isThere = FileManager.default.fileExists(atPath: place.file("b"))
            // A signal that comes before the program can take it ends it at once; one that comes too late changes nothing.
            #expect(result.wasKilled || [0, 130].contains(result.code), "seed \(seed), round \(round): \(result)")
            #expect(isThere == (!result.wasKilled && result.code == 0), "seed \(seed), round \(round): \(result)")
            #expect(try place.names().filter { $0.contains("roost-tmp") } == [], "seed \(seed), round \(round)")
            if result.code == 130, !result.wasKilled { stopped += 1 }
            if isThere {
                #expect(try place.roost("diff", "a", "b").code == 0)
                try FileManager.default.removeItem(atPath: place.file("b"))
            }
        }
        #expect(stopped > 0, "seed \(seed)")
    }
}
