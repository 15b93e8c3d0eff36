import Foundation
import Testing

#if canImport(Glibc)
    import Glibc

    /// Commands under limits of processes, address space and open files, which containers often
    /// set.
    ///
    /// Under any limit, a command succeeds or reports the missing resource. It never waits forever,
    /// no signal ends it, and a command that fails leaves no files except lock files. The time
    /// limit only ends endless waiting.
    @Suite("Commands under limits of resources", .serialized)
    struct ResourceLimitTests {
        private static let tools = ["prlimit", "setpriv", "timeout"]
        private static let hasTools = tools.allSatisfy { tool in
            ["/usr/bin/", "/bin/"].contains { FileManager.default.isExecutableFile(atPath: $0 + tool) }
        }

        private func makePlace(isForNobody: Bool = false) throws -> Workplace {
            let place = try Workplace()
            for type in Workplace.fileTypes { try place.makeStore(type, named: "a.\(type)", objects: 400) }
            for name in try place.names() where name.hasSuffix(".lock") {
                try FileManager.default.removeItem(atPath: place.file(name))
            }
            guard isForNobody else { return place }
            // Other users may be unable to read a build directory.
            try FileManager.default.copyItem(atPath: try #require(Workplace.program), toPath: place.file("roost"))
            for name in ["."] + (try place.names()) { try #require(chown(place.file(name), 65534, 65534) == 0) }
            return place
        }

        /// Runs a command under a limit, then checks the remaining files.
        ///
        /// - Returns: Whether the command succeeded.
        private func run(
            _ arguments: [String], of program: String, under limit: [String], in place: Workplace,
            makes name: String? = nil, at location: SourceLocation = #_sourceLocation
        ) throws -> Bool {
            let what = "\(limit) \(arguments)"
            let before = try place.names()
            let command = ["/usr/bin/env", "timeout", "--signal=KILL", "300"] + limit + [program] + arguments
            let result = try RunningCommand(command, in: place.path).wait()
            #expect(!result.wasKilled && result.code <= 3, "\(what): \(result)", sourceLocation: location)
            let hasSucceeded = result.code == 0
            var left = try place.names().filter { !$0.hasSuffix(".lock") || $0.hasPrefix(".") }
            left.removeAll { before.contains($0) }
            #expect(
                left == (hasSucceeded ? name.map { [$0] } ?? [] : []), "\(what): \(result)", sourceLocation: location)
            for new in try place.names() where !before.contains(new) {
                if hasSucceeded, new == name {
                    #expect(try place.roost("check", new).code == 0, "\(what)", sourceLocation: location)
                }
                try FileManager.default.removeItem(atPath: place.file(new))
            }
            return hasSucceeded
        }

        @Test(
            "a conversion under a limit of processes succeeds, or fails and leaves no store",
            .enabled(if: hasTools, "needs prlimit, setpriv and timeout"), arguments: Workplace.fileTypes)
        func processes(type: String) throws {
            // Root has no limit of processes, so root runs the commands as user 65534. Other users have
            // processes already, so only limit 1 has a predictable result.
            let isRoot = geteuid() == 0
            let place = try makePlace(isForNobody: isRoot)
            let user = isRoot ? ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] : []
            let program = isRoot ? place.file("roost") : try #require(Workplace.program)
            var outcomes: [Bool] = []
            for count in isRoot ? [1, 2, 3, 4, 5, 8, 100] : [1] {
                let arguments = ["convert", "a.sqlite", "\(type):b", "--quiet"]
                outcomes.append(
                    try run(
                        arguments, of: program, under: user + ["prlimit", "--nproc=\(count)"], in: place, makes: "b"))
                _ = try run(
                    ["update", "a.\(type)", "Track", "--set=number = \(count)", "--yes", "--quiet"], of: program,
                    under: user + ["prlimit", "--nproc=\(count)"], in: place)
                #expect(try place.roost("check", "a.\(type)").code == 0)
            }
            #expect(outcomes.first == false)
            if isRoot { #expect(outcomes.last == true) }
        }

        @Test(
            "an LMDB conversion in a small address space succeeds, or fails and leaves no store",
            .enabled(if: hasTools, "needs prlimit, setpriv and timeout"))
        func addressSpace() throws {
            let place = try makePlace()
            let program = try #require(Workplace.program)
            // The memory that the program needs before opening a store. All limits are higher.
            var minimum = 64 << 20
            while try RunningCommand(
                ["/usr/bin/env", "prlimit", "--as=\(minimum)", program, "--version"], in: place.path
            ).wait().code != 0 { minimum += 8 << 20 }
            var outcomes: [Bool] = []
            for extra in stride(from: 16, through: 496, by: 48) {
                let limit = ["prlimit", "--as=\(minimum + extra << 20)"]
                for (source, target) in [("sqlite", "lmdb"), ("lmdb", "sqlite"), ("lmdb", "lmdb")] {
                    outcomes.append(
                        try run(
                            ["convert", "a.\(source)", "\(target):b", "--quiet"], of: program, under: limit, in: place,
                            makes: "b"))
                }
                _ = try run(
                    ["update", "a.lmdb", "Track", "--set=number = 1", "--yes", "--quiet"], of: program, under: limit,
                    in: place)
                #expect(try place.roost("check", "a.lmdb").code == 0)
            }
            #expect(outcomes.first == false && outcomes.suffix(3) == [true, true, true])
        }

        @Test(
            "a conversion under a limit of open files succeeds, or fails and leaves no store",
            .enabled(if: hasTools, "needs prlimit, setpriv and timeout"), arguments: ["lmdb", "json"])
        func openFiles(type: String) throws {
            let place = try makePlace()
            let program = try #require(Workplace.program)
            var outcomes: [Bool] = []
            for count in [4, 5, 6, 7, 8, 9, 10, 12, 16, 64] {
                outcomes.append(
                    try run(
                        ["convert", "a.lmdb", "\(type):b", "--quiet"], of: program,
                        under: ["prlimit", "--nofile=\(count)"], in: place, makes: "b"))
                #expect(try place.roost("check", "a.lmdb").code == 0)
            }
            #expect(outcomes.first == false && outcomes.last == true)
        }
    }
#endif
