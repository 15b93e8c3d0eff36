import Foundation
import RoostSystem
import Testing

/// Returns the number of interruptions of a test: `ROOST_CRASH_KILLS`, or else `usually`.
private func interruptionCount(_ usually: Int) -> Int {
    ProcessInfo.processInfo.environment["ROOST_CRASH_KILLS"].flatMap { Int($0) } ?? usually
}

@Suite("Interrupted conversions", .serialized)
struct InterruptionTests {
    /// Converts `a` into `type:b`, and sends a signal at a random time within `duration`.
    private func interrupt(
        _ type: String, by signal: Int32, within duration: Duration, using numbers: inout SeededNumbers,
        in place: Workplace
    ) throws -> CommandResult {
        let run = try place.start(["convert", "a", "\(type):b", "--quiet"])
        let microseconds = duration / .microseconds(1)
        // Sleeps, because the signal's time is random on purpose.
        usleep(UInt32(Double(numbers.next() % 1000) / 1000 * microseconds))
        kill(run.process.processIdentifier, signal)
        return try run.wait()
    }

    private func wholeDuration(of type: String, in place: Workplace) throws -> Duration {
        let clock = ContinuousClock()
        let start = clock.now
        try #require(try place.roost("convert", "a", "\(type):whole").code == 0)
        return clock.now - start
    }

    @Test(
        "a conversion killed at a random instant leaves no destination or a complete one",
        arguments: Workplace.fileTypes)
    func killed(type: String) throws {
        let place = try Workplace()
        try place.makeStore("sqlite", named: "a", objects: 8000)
        let source = try place.bytes("a")
        let duration = try wholeDuration(of: type, in: place)
        let seed = UInt64.random(in: 0 ... .max)
        var numbers = SeededNumbers(seed)
        for round in 0..<interruptionCount(15) {
            _ = try interrupt(type, by: SIGKILL, within: duration, using: &numbers, in: place)
            if FileManager.default.fileExists(atPath: place.file("b")) {
                let diff = try place.roost("diff", "a", "b")
                #expect(diff.code == 0, "seed \(seed), round \(round): \(diff)")
                try FileManager.default.removeItem(atPath: place.file("b"))
            }
        }
        // A conversion without a signal finishes, and removes the files of the killed ones.
        let last = try place.roost("convert", "a", "\(type):b")
        #expect(last.code == 0, "seed \(seed): \(last)")
        #expect(try place.roost("diff", "a", "b").code == 0)
        #expect(try place.names().filter { $0.contains("roost-tmp") } == [], "seed \(seed)")
        #expect(try place.bytes("a") == source)
    }

    @Test(
        "a conversion stopped by a signal leaves no file and exits with 130",
        arguments: Workplace.fileTypes, [SIGINT, SIGTERM, SIGHUP])
    func stopped(type: String, signal: Int32) throws {
        let place = try Workplace()
        try place.makeStore("sqlite", named: "a", objects: 8000)
        let duration = try wholeDuration(of: type, in: place)
        let seed = UInt64.random(in: 0 ... .max)
        var numbers = SeededNumbers(seed)
        var stopped = 0
        for round in 0..<interruptionCount(6) {
            let result = try interrupt(type, by: signal, within: duration, using: &numbers, in: place)
            let exists = FileManager.default.fileExists(atPath: place.file("b"))
            // An early signal ends the program at once, and a late signal changes nothing.
            #expect(result.wasKilled || [0, 130].contains(result.code), "seed \(seed), round \(round): \(result)")
            #expect(exists == (!result.wasKilled && result.code == 0), "seed \(seed), round \(round): \(result)")
            #expect(try place.names().filter { $0.contains("roost-tmp") } == [], "seed \(seed), round \(round)")
            if result.code == 130, !result.wasKilled { stopped += 1 }
            if exists {
                #expect(try place.roost("diff", "a", "b").code == 0)
                try FileManager.default.removeItem(atPath: place.file("b"))
            }
        }
        #expect(stopped > 0, "seed \(seed)")
    }

    @Test("a conversion under nohup continues after the end of its terminal")
    func nohup() throws {
        let place = try Workplace()
        try place.makeStore("sqlite", named: "a", objects: 8000)
        let run = try place.start(
            ["convert", "a", "lmdb:b", "--quiet"], through: ["/bin/sh", "-c", "trap '' HUP; exec \"$@\"", "sh"])
        while run.process.isRunning {
            kill(run.process.processIdentifier, SIGHUP)
            usleep(1000)
        }
        let result = try run.wait()
        #expect(result.code == 0 && !result.wasKilled, "\(result)")
    }
}

@Suite("Commands that end while a store is open", .serialized)
struct OpenStoreInterruptionTests {
    private static let signals = [SIGINT, SIGTERM, SIGHUP]

    /// Returns the files beside the store, except for its lock file.
    private func companions(_ place: Workplace) throws -> [String] {
        try place.names().filter { $0.hasPrefix("a") && !["a", "a.lock"].contains($0) || $0.contains("roost-tmp") }
    }

    /// Runs a command, and sends a signal at a random time, up to 1.1 times `duration`.
    private func interrupt(
        _ command: [String], by signal: Int32, within duration: Duration, using numbers: inout SeededNumbers,
        in place: Workplace
    ) throws -> CommandResult {
        let run = try place.start(command)
        // Sleeps, because the signal's time is random on purpose.
        usleep(UInt32(Double(numbers.next() % 1100) / 1000 * (duration / .microseconds(1))))
        kill(run.process.processIdentifier, signal)
        return try run.wait()
    }

    private func runDuration(of command: [String], in place: Workplace) throws -> Duration {
        let clock = ContinuousClock()
        let start = clock.now
        try #require(try place.start(command).wait().code == 0)
        return clock.now - start
    }

    private func version(_ place: Workplace) throws -> Int {
        let run = try place.roost("fetch", "a", "Track", "--select=sum(playCount)", "--format=csv")
        #expect(run.code == 0, "\(run)")
        return try #require(run.output.split(separator: "\n").last.flatMap { Int($0) })
    }

    @Test(
        "an update that is stopped by a signal exits with 130 only if nothing changed", arguments: Workplace.fileTypes)
    func update(type: String) throws {
        let place = try Workplace()
        try place.makeStore(type, named: "a", objects: 4000)
        let command = ["update", "a", "Track", "--set=playCount = playCount + 1", "--yes"]
        let before = try version(place)
        let duration = try runDuration(of: command, in: place)
        var version = try version(place)
        let step = version - before
        let seed = UInt64.random(in: 0 ... .max)
        var numbers = SeededNumbers(seed)
        for round in 0..<interruptionCount(9) {
            let signal = Self.signals[round % Self.signals.count]
            let result = try interrupt(command, by: signal, within: duration, using: &numbers, in: place)
            let now = try self.version(place)
            let isChanged = !result.wasKilled && result.code == 0
            #expect(result.wasKilled || [0, 130].contains(result.code), "seed \(seed), round \(round): \(result)")
            #expect(now == version + (isChanged ? step : 0), "seed \(seed), round \(round): \(result)")
            #expect(try companions(place) == [], "seed \(seed), round \(round): \(result)")
            version = now
        }
    }

    @Test(
        "a reading command that is stopped leaves no file beside the store", arguments: Workplace.fileTypes,
        ["fetch", "dump", "diff"])
    func reading(type: String, what: String) throws {
        let place = try Workplace()
        try place.makeStore(type, named: "a", objects: 4000)
        let commands = [
            "fetch": ["fetch", "a", "Track", "--sort=title[l]", "--format=json"], "dump": ["dump", "a"],
            "diff": ["diff", "a", "a"],
        ]
        let command = try #require(commands[what])
        let duration = try runDuration(of: command, in: place)
        let seed = UInt64.random(in: 0 ... .max)
        var numbers = SeededNumbers(seed)
        for round in 0..<interruptionCount(4) {
            let signal = Self.signals[round % Self.signals.count]
            let result = try interrupt(command, by: signal, within: duration, using: &numbers, in: place)
            #expect(result.wasKilled || [0, 130].contains(result.code), "seed \(seed), round \(round): \(result)")
            #expect(result.errors == "", "seed \(seed), round \(round): \(result.errors)")
            #expect(try companions(place) == [], "seed \(seed), round \(round): \(result)")
        }
    }

    @Test(
        "a command whose output has no reader exits with 0 and leaves no file beside the store",
        arguments: Workplace.fileTypes)
    func closedPipe(type: String) throws {
        let place = try Workplace()
        try place.makeStore(type, named: "a", objects: 4000)
        let program = try #require(Workplace.program)
        let commands = [
            "dump a", "fetch a Track --format=json", "fetch a Track", "info a --json",
            "update a Track --set='playCount = 7' --yes",
        ]
        for command in commands {
            // The reader ends before the program begins.
            let result = try RunningCommand(
                [
                    "/bin/sh", "-c",
                    "mkfifo pipe; (exec 3<pipe; echo > ready) & exec 4>pipe; until [ -f ready ]; do :; done; wait; '\(program)' \(command) >&4; code=$?; rm pipe ready; exit $code",
                ], in: place.path
            ).wait()
            #expect(result.code == 0 && result.errors == "", "\(command): \(result)")
            #expect(try companions(place) == [], "\(command)")
        }
        #expect(try place.roost("fetch", "a", "Track", "--count", "--where=playCount != 7").output == "0\n")
    }

    /// A full pipe blocks the report, so that the program still runs after its commit.
    @Test("an update that gets a signal after its commit ends normally", arguments: Workplace.fileTypes, signals)
    func behindCommit(type: String, signal: Int32) throws {
        let place = try Workplace()
        try place.makeStore(type, named: "a", objects: 200)
        let pipe = Pipe()
        let filler = pipe.fileHandleForWriting.fileDescriptor
        #expect(fcntl(filler, F_SETFL, O_NONBLOCK) == 0)
        while write(filler, [0], 1) == 1 {}
        #expect(fcntl(filler, F_SETFL, 0) == 0)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try #require(Workplace.program))
        process.arguments = ["update", "a", "Track", "--set=playCount = 99", "--yes"]
        process.currentDirectoryURL = URL(fileURLWithPath: place.path)
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = pipe
        try process.run()
        try pipe.fileHandleForWriting.close()
        let count = ["fetch", "a", "Track", "--count", "--where=playCount != 99"]
        while try place.start(count).wait().output != "0\n", process.isRunning {}
        kill(process.processIdentifier, signal)
        // By now, a fatal signal has ended the program.
        _ = try place.start(count).wait()
        let output = try #require(try pipe.fileHandleForReading.readToEnd())
        process.waitUntilExit()
        #expect(process.terminationStatus == 0 && process.terminationReason == .exit)
        #expect(String(decoding: output.drop { $0 == 0 }, as: UTF8.self).contains("Updated"))
        #expect(try companions(place) == [])
    }

    /// A limit of the file size permits the log or journal to grow, but not the store.
    @Test(
        "an update without room to close the store reports the change and exits with 0",
        arguments: Workplace.fileTypes.filter { ["sqlite", "json"].contains($0) })
    func noRoomToClose(type: String) throws {
        let place = try Workplace()
        try place.makeStore(type, named: "a", objects: 8000)
        let key = try place.roost("fetch", "a", "Track", "--select=id", "--format=csv").output
            .split(separator: "\n").last.map(String.init)
        let id = try #require(key)
        try #require(try place.bytes("a").count > 1 << 20)
        // The limit is half a mebibyte, in blocks of 512 bytes.
        let result = try place.roost(
            "update", "a", "Track", "--set=playCount = 1000000", "--where=SELF = \(id)", "--yes",
            through: ["/bin/sh", "-c", "ulimit -f 1024 && exec \"$@\"", "sh"])
        result.expectError(0, containing: "warning: the change is made and stays")
        #expect(result.output.contains("Updated 1 object."))
        #expect(result.errors.contains("Every commit in it is safe") && !result.errors.contains("roost-tmp"))
        #expect(!result.errors.contains("try again") && !result.errors.contains("nothing was written"))
        #expect(try place.roost("fetch", "a", "Track", "--count", "--where=playCount = 1000000").output == "1\n")
        // With more space, the next update moves the changes into the store.
        try #require(
            try place.roost("update", "a", "Track", "--set=playCount = 1", "--where=SELF = \(id)", "--yes").code == 0)
        #expect(try companions(place) == [])
        #expect(try place.roost("check", "a").code == 0)
    }
}
