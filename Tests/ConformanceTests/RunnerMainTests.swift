import RoostCore
import Testing

@testable import RoostConformance

@Suite("The conformance program")
struct RunnerMainTests {
    private func run(_ arguments: String..., fixtures: [StoreFixture]? = nil) throws -> (
        code: Int32, output: String, errors: String
    ) {
        var (output, errors) = ("", "")
        let memory = try #require(StoreFixture.writable.first { $0.name == "memory" })
        let code = ConformanceRunner.main(
            fixtures ?? [memory], arguments: arguments, write: { output += $0 }, writeError: { errors += $0 })
        return (code, output, errors)
    }

    @Test("the conformance program exits with 0 if every check passes, in each format")
    func passing() throws {
        let text = try run("--filter=links.order")
        #expect(text.code == 0 && text.errors == "" && text.output.contains(" 0 failed"))
        let tap = try run("--format=tap", "--filter", "links.*")
        #expect(tap.code == 0 && tap.output.hasPrefix("TAP version 13\n1.."))
        let junit = try run("--format=junit", "--filter=links.order")
        #expect(junit.code == 0 && junit.output.contains("<testsuite ") && junit.output.contains("links.order"))
        let markdown = try run("--format=markdown", "--filter=links.order", "--store=memory")
        #expect(markdown.code == 0 && markdown.output.contains("|"))
    }

    @Test("the conformance program exits with 1 if a check fails, in text, TAP and JUnit format")
    func failing() throws {
        let memory = try #require(StoreFixture.writable.first { $0.name == "memory" })
        let faulty = [memory.faulty(.roundsDates)]
        for format in ["text", "tap", "junit"] {
            let failed = try run("--format=\(format)", "--filter=values.date", fixtures: faulty)
            #expect(failed.code == 1 && failed.output.contains("values.date.extremes"), "\(format)")
        }
    }

    @Test("a self-test of the conformance program exits with 1 if the store has the fault already")
    func unsoundSelfTest() throws {
        let memory = try #require(StoreFixture.writable.first { $0.name == "memory" })
        let faulty = [memory.faulty(.roundsDates)]
        #expect(try run("--self-test", "--filter=rounds-dates", fixtures: faulty).code == 1)
    }

    @Test(
        "the conformance program exits with 2 for wrong arguments and runs nothing",
        arguments: [
            (["--formt=tap"], "did you mean '--format'?"), (["tap"], "unknown argument 'tap'"),
            (["--format=xml"], "needs one of text, tap"), (["--format"], "needs a value"),
            (["--list=yes"], "takes no value"), (["--filter=nothing-like-it"], "no check matches"),
            (["--store=other"], "the types are memory"), (["--quiet", "--format=tap"], "leave out"),
            (["--self-test", "--filter=nothing-like-it"], "no fault"),
        ] as [([String], String)])
    func wrongArguments(_ arguments: [String], message: String) throws {
        var (output, errors) = ("", "")
        let code = ConformanceRunner.main(
            [try #require(StoreFixture.writable.first { $0.name == "memory" })], arguments: arguments,
            write: { output += $0 }, writeError: { errors += $0 })
        #expect(code == 2 && output == "" && errors.contains(message), "\(arguments): \(errors)")
    }

    @Test("the conformance program exits with 2 if a fixture excludes an unknown check")
    func unknownExclusion() throws {
        let memory = try #require(StoreFixture.writable.first { $0.name == "memory" })
        let excluding = StoreFixture(
            memory.type, keepsClosedStores: true, exclusions: [ConformanceExclusion("no.such-check", because: "x")])
        let excluded = try run(fixtures: [excluding])
        #expect(excluded.code == 2 && excluded.errors.contains("unknown check 'no.such-check'"))
    }

    @Test("the conformance program lists checks with their behavior")
    func listing() throws {
        let list = try run("--list", "--filter=links.order")
        #expect(list.code == 0 && list.output.hasPrefix("links.order  ") && list.output.hasSuffix(".\n"))
        #expect(try run("--list", "--self-test").output == run("--list").output)
    }

    @Test("the conformance program shows its options for --help")
    func help() throws {
        #expect(try run("--help").output.contains("--self-test"))
    }

    @Test("a self-test of the conformance program reports a caught fault and exits with 0")
    func selfTest() throws {
        let test = try run("--self-test", "--filter=rounds-dates")
        #expect(test.code == 0 && test.output.contains("caught  rounds-dates"))
    }

    @Test("the conformance program exits with 3 if the report cannot be written")
    func unwritableReport() throws {
        struct Gone: Error {}
        var errors = ""
        let code = ConformanceRunner.main(
            [try #require(StoreFixture.writable.first { $0.name == "memory" })], arguments: ["--filter=links.order"],
            write: { _ in throw Gone() }, writeError: { errors += $0 })
        #expect(code == 3 && errors.contains("Gone"))
    }
}
