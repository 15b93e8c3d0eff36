import Foundation
import RoostSystem
import Testing

@Suite("Dump and load commands")
struct DumpCommandTests {
    /// Runs a shell line in which `roost` is the tested program.
    private func shell(_ line: String, in place: Workplace) throws -> CommandResult {
        let program = try #require(Workplace.program)
        return try RunningCommand(["/bin/sh", "-c", "roost() { '\(program)' \"$@\"; }; \(line)"], in: place.path).wait()
    }

    @Test(
        "a dump that is loaded gives the same store as a conversion", arguments: Workplace.fileTypes,
        Workplace.fileTypes)
    func equalsConvert(from source: String, to destination: String) throws {
        let place = try Workplace()
        try place.makeStore(source, named: "a")
        let before = try place.bytes("a")
        let result = try shell("roost dump a | roost load \(destination):b --json", in: place)
        #expect(result.code == 0 && result.errors == "", "\(result.errors)")
        let report = try result.json()
        #expect(report["source"] as? String == "standard input")
        #expect(report["destination"] as? String == "\(destination):b")
        #expect(report["objects"] as? Int == 2000)
        #expect(report["verified"] as? Bool == true)
        #expect(report["digest"] as? String == (try place.roost("info", "a", "--json").json()["digest"] as? String))
        #expect(try place.roost("convert", "a", "\(destination):c", "--quiet").code == 0)
        for names in [("a", "b"), ("b", "c")] {
            let diff = try place.roost("diff", names.0, names.1)
            #expect(diff.code == 0 && diff.output == "" && diff.errors == "")
        }
        #expect(try place.roost("check", "b").code == 0)
        #expect(try shell("roost dump a > a.jsonl; roost dump b | cmp - a.jsonl", in: place).code == 0)
        #expect(try place.bytes("a") == before)
        #expect(try place.names().allSatisfy { !$0.contains("roost-tmp") })
    }

    @Test("a load from incomplete or foreign input is refused and makes no store")
    func badInput() throws {
        let place = try Workplace()
        try place.makeStore("sqlite", named: "a")
        try shell("roost dump a | head -n 500 | roost load sqlite:b", in: place).expectError(
            3, containing: "line 501, column 1")
        try shell("roost dump a | head -c 100000 | roost load sqlite:b", in: place).expectError(
            3, containing: "standard input, line ")
        try shell("roost load sqlite:b < a", in: place).expectError(3, containing: "line 1, column 1")
        try shell("roost load sqlite:b < /dev/null", in: place).expectError(3, containing: "standard input is empty")
        try shell("roost load sqlite:b <&-", in: place).expectError(3, containing: "cannot be read")
        try shell("roost load b < a", in: place).expectError(2, containing: "type:path")
        try shell("roost dump a | roost load a", in: place).expectError(3, containing: "exists")
        try shell("roost dump a | roost load coredata:b", in: place).expectError(2, containing: "only be read")
        try shell("roost dump a --entity=Albun", in: place).expectError(2, containing: "did you mean 'Album'?")
        try shell("roost dump nothing", in: place).expectError(3, containing: "nothing")
        #expect(try place.names().filter { $0.hasPrefix("b") } == [])
        #expect(try place.roost("check", "a").code == 0)
    }

    @Test("a dump of some entities loads only with --allow-dangling")
    func someEntities() throws {
        let place = try Workplace()
        try place.makeStore("sqlite", named: "a")
        let dump = try shell(
            "roost dump a --entity Album -e Genre | tee some.jsonl | grep -c '^{\"entity\"'", in: place)
        #expect(dump.code == 0 && Int(dump.output.dropLast()) == 200 + 24, "\(dump)")
        try shell("roost load sqlite:b < some.jsonl", in: place).expectError(3, containing: "200 by 'Album.artist'")
        #expect(try !place.names().contains("b"))
        let result = try shell("roost load sqlite:b --allow-dangling < some.jsonl", in: place)
        #expect(result.code == 0 && result.output.contains("left out  200 references by 'Album.artist'"), "\(result)")
        #expect(try place.roost("check", "b").output == "sqlite:b is sound.\n")
    }

    @Test("a load of incomplete input with --overwrite keeps the store, and a load with --quiet prints nothing")
    func overwriting() throws {
        let place = try Workplace()
        try place.makeStore("sqlite", named: "a")
        #expect(try shell("roost dump a > a.jsonl && roost load sqlite:b --quiet < a.jsonl", in: place).output == "")
        try shell("head -n 100 a.jsonl | roost load sqlite:b --overwrite", in: place).expectError(
            3, containing: "line 101")
        #expect(try place.roost("diff", "a", "b").code == 0)
        let result = try shell("roost load sqlite:b --overwrite --quiet < a.jsonl", in: place)
        #expect(result.code == 0 && result.output == "" && result.errors == "")
    }

    // GNU's timeout sends two signals; two of one kind could arrive as one.
    @Test(
        "a load that waits for input ends at one or two quick signals and leaves no file",
        arguments: [[SIGINT], [SIGTERM], [SIGINT, SIGTERM]])
    func interrupted(signals: [Int32]) throws {
        let place = try Workplace()
        try place.makeStore("sqlite", named: "a")
        // The pipe stays open, so that the load waits. The signal follows once the load has a
        // temporary file.
        let program = try #require(Workplace.program)
        let result = try RunningCommand(
            [
                "/bin/sh", "-c",
                """
                mkfifo pipe; '\(program)' dump a > a.jsonl
                '\(program)' load sqlite:b < pipe & load=$!
                exec 3> pipe; head -n 50 a.jsonl >&3
                until ls -a | grep -q roost-tmp || ! kill -0 $load; do :; done
                \(signals.map { "kill -\($0) $load" }.joined(separator: "; "))
                wait $load; echo $?
                """,
            ], in: place.path
        ).wait()
        #expect(result.output == "130\n", "\(result)")
        #expect(result.errors.contains("cancelled"), "\(result)")
        #expect(try place.names().filter { $0.hasPrefix("b") || $0.contains("roost-tmp") } == [])
    }

    @Test("a dump into a closed pipe or a full device leaves the store sound")
    func brokenOutput() throws {
        let place = try Workplace()
        try place.makeStore("sqlite", named: "a")
        #expect(try shell("roost dump a | head -n 1 | wc -l", in: place).output.contains("1"))
        try shell("roost dump a > /dev/full", in: place).expectError(3, containing: "standard output cannot be written")
        #expect(try place.roost("check", "a").code == 0)
    }
}
