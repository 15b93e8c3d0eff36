import Foundation
import Roost
import RoostConformance
import Testing

@testable import RoostCommand

@Suite("roost conformance")
struct ConformanceCommandTests {
    /// Runs the command in this process, with only these types.
    private static func run(
        _ arguments: [String], on types: [any PersistentStoreType], isCancelled: @escaping () -> Bool = { false }
    ) throws -> (code: ExitCode, output: String) {
        let parsed = try ParsedArguments(arguments, for: .conformance)
        let run = try ConformanceRun(parsed, registry: StoreRegistry(types), isCancelled: isCancelled)
        var output = ""
        let code = try run.run { output += $0 }
        return (code, output)
    }

    private static func faulty() throws -> any PersistentStoreType {
        FaultyStoreType(try StoreRegistry.standard.type(named: "memory"), fault: .dropsLastLink)
    }

    @Test("roost conformance prints a line for each check that a filter selects, then the counts")
    func text() throws {
        let place = try Workplace()
        let result = try place.roost("conformance", "memory", "coredata", "--filter=links.or*", "-f", "changes.empty")
        #expect(result.code == 0 && result.errors == "")
        let ids = ConformanceCheck.all.filter { $0.matches("links.or*") || $0.id == "changes.empty" }.map(\.id)
        try #require(ids.count > 2)
        var expected = ids.map { "ok        memory  \($0)" } + ids.map { "opposite  coredata  \($0)  (no writing)" }
        expected += [
            "memory: \(ids.count) checks: \(ids.count) passed, 0 passed as opposites, 0 excluded, 0 failed",
            "coredata: \(ids.count) checks: 0 passed, \(ids.count) passed as opposites, 0 excluded, 0 failed", "",
        ]
        #expect(result.output.components(separatedBy: "\n") == expected)
        let quiet = try place.roost("conformance", "memory", "--quiet", "--filter=links.order")
        #expect(quiet.code == 0 && quiet.output == "" && quiet.errors == "")
    }

    @Test("roost conformance prints TAP, JUnit, Markdown and JSON")
    func formats() throws {
        let place = try Workplace()
        func output(_ format: String...) throws -> String {
            let result = try place.start(["conformance", "memory", "--filter=links.order"] + format).wait()
            #expect(result.code == 0 && result.errors == "")
            return result.output
        }
        #expect(try output("--format=tap").hasPrefix("TAP version 13\n1..2\nok 1 - memory: links.order\nok 2 - "))
        #expect(try output("--format=junit").hasPrefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites "))
        #expect(try output("--format=markdown").contains("| `links` | 2 |\n"))
        #expect(try output("--format=markdown", "--verbose").contains("| `links.order` | "))
        #expect(try output("--verbose").contains(" ms\n"))
        let report = try place.roost("conformance", "memory", "coredata", "--filter=links.order", "--json").json()
        #expect(report["passed"] as? Int == 4 && report["failed"] as? Int == 0 && report["excluded"] as? Int == 0)
        let checks = try #require(report["checks"] as? [[String: Any]])
        #expect(checks.map { $0["type"] as? String } == ["memory", "memory", "coredata", "coredata"])
        #expect(checks.map { $0["missingCapability"] as? String } == [nil, nil, "writing", "writing"])
        #expect(checks.allSatisfy { $0["passed"] as? Bool == true && $0["seconds"] is Double })
    }

    @Test("roost conformance exits with 1 on a failing check, in every format")
    func failing() throws {
        let arguments = ["memory", "--filter=links.many-to-many"]
        let types = [try Self.faulty()]
        let text = try Self.run(arguments, on: types)
        #expect(text.code == .finding && text.output.contains("FAIL      memory  links.many-to-many\n"))
        #expect(text.output.contains("expected: ") && text.output.contains("actual:   "))
        let quiet = try Self.run(arguments + ["-q", "--filter=changes.empty"], on: types)
        #expect(quiet.code == .finding && quiet.output.hasPrefix("FAIL") && !quiet.output.contains("changes.empty"))
        let tap = try Self.run(arguments + ["--format=tap"], on: types)
        #expect(tap.code == .finding && tap.output.contains("\nnot ok 1 - memory: links.many-to-many\n"))
        let junit = try Self.run(arguments + ["--format=junit"], on: types)
        #expect(junit.code == .finding && junit.output.contains("<failure "))
        let markdown = try Self.run(arguments + ["--format=markdown"], on: types)
        #expect(markdown.code == .finding && markdown.output.contains("**1 failed**"))
        let json = try Self.run(arguments + ["--json"], on: types)
        #expect(json.code == .finding && json.output.contains("\"failed\": 1") && json.output.contains("; actual: "))
    }

    @Test("a failing excluded check is reported as excluded, and a passing excluded check fails the run")
    func exclusions() throws {
        let arguments = ["memory", "--filter=links.many-to-many", "--exclude=links.many-to-many=drops = loses one"]
        let excluded = try Self.run(arguments, on: [try Self.faulty()])
        #expect(excluded.code == .success)
        #expect(excluded.output.contains("excluded  memory  links.many-to-many  (drops = loses one)\n"))
        let json = try Self.run(arguments + ["--json"], on: [try Self.faulty()])
        #expect(json.code == .success && json.output.contains("\"excluded\": \"drops = loses one\""))
        // The exclusion is for one of two types; the other type passes.
        let types = [try Self.faulty(), try StoreRegistry.standard.type(named: "lmdb")]
        let one = try Self.run(
            [types[0].name, "lmdb", "-f", "links.many-to-many", "-x", "\(types[0].name):links.many-to-many=why: so"],
            on: types)
        #expect(one.code == .success && one.output.contains("excluded  memory  links.many-to-many  (why: so)\n"))
        #expect(one.output.contains("ok        lmdb  links.many-to-many\n"))
        let needless = try Workplace().start(["conformance"] + arguments).wait()
        #expect(needless.code == 1 && needless.output.contains("it passes: remove the exclusion"))
    }

    @Test(
        "roost conformance with wrong arguments names the argument and exits with 2",
        arguments: [
            (["memroy"], "did you mean 'memory'?"), (["memory", "memory"], "given twice"),
            (["memory", "--filter=no such check"], "no check matches"), (["memory", "-f", "linsk"], "'links'?"),
            (["memory", "--filter=links.order", "--filter=x*y"], "--filter=x*y"),
            (["memory", "--format=tab"], "did you mean 'tap'?"), (["memory", "--format=tap", "--json"], "--json"),
            (["memory", "--quiet", "--format=tap"], "--quiet"), (["memory", "--quiet", "--verbose"], "--quiet"),
            (["memory", "--exclude=links.order"], "a reason"),
            (["memory", "--exclude=links.order="], "without a reason"),
            (["memory", "--exclude=links.odrer=x"], "'links.order'?"),
            (["memory", "-x", "links.order=a", "-x", "links.order=b"], "twice"), ([], "needs TYPE"),
            (["memory", "-x", "links.order=a", "-x", "memory:links.order=b"], "twice"),
            (["memory", "-x", "memory:links.odrer=x"], "'links.order'?"),
            (["memory", "-x", "lmdb:links.order=x"], "type 'lmdb' is not under test"),
            (["memory", "-x", "memroy:links.order=x"], "did you mean 'memory'?"),
            (["memory", "--filter=values", "-x", "links.order=x"], "'--filter' leaves out check 'links.order'"),
            (["--self-test", "memroy"], "did you mean 'memory'?"),
            (["--self-test", "memory", "memory"], "given twice"),
            (["--self-test", "--format=tap"], "leave out '--format'"),
            (["--self-test", "-x", "links.order=x"], "leave out '--exclude'"),
            (["--self-test", "--filter=l*lin"], "--filter=l*lin"), (["--self-test", "-q", "--json"], "'--quiet'"),
            (["--self-test", "-q", "-v"], "'--quiet'"),
        ] as [([String], String)])
    func usage(arguments: [String], message: String) throws {
        let result = try Workplace().start(["conformance"] + arguments).wait()
        result.expectError(2, containing: message)
        #expect(result.output == "")
    }

    @Test("a cancelled conformance run ends after the current check")
    func cancelled() throws {
        var count = 0
        let error = #expect(throws: StoreError.self) {
            try Self.run(["memory", "--filter=links"], on: [try StoreRegistry.standard.type(named: "memory")]) {
                count += 1
                return count == 3
            }
        }
        #expect(error?.code == .cancelled && count == 3)
    }

    @Test(
        "a cancelled conformance run reports the finished checks in every format",
        arguments: [
            ("--format=text", "memory: 2 checks: 2 passed"), ("--format=tap", "Bail out! "),
            ("--format=junit", "<error "),
            ("--format=markdown", "**Interrupted: "), ("--json", "\"interrupted\": true"),
        ])
    func cancelledReport(format: String, mark: String) throws {
        let parsed = try ParsedArguments(["memory", "--filter=links", format], for: .conformance)
        var count = 0
        let run = try ConformanceRun(parsed, registry: StoreRegistry.standard) {
            count += 1
            return count == 2
        }
        var output = ""
        let error = #expect(throws: StoreError.self) { try run.run { output += $0 } }
        #expect(error?.code == .cancelled && count == 2)
        #expect(output.contains(mark), "\(output)")
        #expect(output.contains("links"), "\(output)")
        let whole = try Self.run(
            ["memory", "--filter=links.order", format], on: [try StoreRegistry.standard.type(named: "memory")])
        #expect(whole.code == .success && (format == "--format=text" || !whole.output.contains(mark)))
    }

    @Test("roost conformance refuses a missing TMPDIR and does not create it", arguments: ["memory", "--self-test"])
    func temporaryDirectory(argument: String) throws {
        let place = try Workplace()
        let missing = place.file("none")
        let result = try place.roost("conformance", argument, through: ["/usr/bin/env", "TMPDIR=\(missing)"])
        result.expectError(3, containing: "'\(missing)', which does not exist; set TMPDIR")
        #expect(result.output == "" && !FileManager.default.fileExists(atPath: missing))
    }

    @Test(
        "roost conformance removes its files after Ctrl-C, SIGTERM or a closed pipe",
        arguments: ["INT", "TERM", "PIPE"], ["--filter=values", "--self-test"])
    func stopped(signal: String, option: String) throws {
        let place = try Workplace()
        let program = try #require(Workplace.program)
        // After the first line, the run is under way. For PIPE, the reader then ends.
        let stop = signal == "PIPE" ? "" : "kill -\(signal) $run; cat >/dev/null;"
        let script = """
            mkdir tmp; mkfifo lines
            TMPDIR=\(place.file("tmp")) '\(program)' conformance json \(option) >lines & run=$!
            { read line; \(stop) } <lines; wait $run; echo $?; ls tmp
            """
        let result = try RunningCommand(["/bin/sh", "-c", script], in: place.path).wait()
        #expect(result.output == (signal == "PIPE" ? "0\n" : "130\n"), "\(result)")
        #expect(result.errors.hasPrefix(signal == "PIPE" ? "" : "roost: The run was cancelled"), "\(result)")
    }
}
