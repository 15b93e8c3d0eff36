internal import Foundation
internal import RoostCore

extension ConformanceRunner {
    /// Runs the suite as a program: reads arguments, prints a report, and returns the exit status.
    ///
    /// The `main.swift` of a backend's own program needs one call:
    ///
    /// ```swift
    /// import Foundation
    /// import RoostConformance
    ///
    /// exit(ConformanceRunner.main([StoreFixture(SortedFileStoreType())]))
    /// ```
    ///
    /// `--help` prints the arguments. If a fixture has no `StoreFixture.peer`, checks of several
    /// processes start this program as the second process.
    ///
    /// - Parameters:
    ///   - fixtures: The types of store under test.
    ///   - arguments: The arguments after the program's name.
    /// - Returns: 0 if no check failed, 1 if a check or a self-test failed, 2 for invalid arguments
    ///   or exclusions, and 3 if the suite could not run or its report could not be written.
    public static func main(
        _ fixtures: [StoreFixture], arguments: [String] = Array(CommandLine.arguments.dropFirst())
    ) -> Int32 {
        main(
            fixtures, arguments: arguments, write: { try FileHandle.standardOutput.write(contentsOf: Data($0.utf8)) },
            writeError: { try? FileHandle.standardError.write(contentsOf: Data($0.utf8)) })
    }

    /// The argument with which checks start the program as a second process.
    static let peerArgument = "--conformance-peer"

    static func main(
        _ fixtures: [StoreFixture], arguments: [String], write: (String) throws -> Void, writeError: (String) -> Void
    ) -> Int32 {
        if arguments == [peerArgument] { return ConformancePeer.main(fixtures.map(\.type)) }
        do {
            let run = try Run(arguments, fixtures: fixtures)
            return try run.execute(write)
        } catch let error as ConformanceArgumentError {
            writeError("\(error.message); see --help\n")
            return 2
        } catch let error as StoreError {
            writeError("\(error.message)\n")
            return 3
        } catch {
            writeError("\(error)\n")
            return 3
        }
    }

    private static let help = """
        Runs the conformance suite. Exits with 0 if every check passes, 1 if a check or a self-test fails, 2 for invalid arguments, and 3 if the suite
        cannot run.

          --format=FORMAT  Print text, tap, junit or markdown (default: text).
          --filter=TEXT    Run only checks whose ID contains TEXT; an asterisk matches any text. Can be repeated.
          --store=NAME     Run only on the store type NAME. Can be repeated.
          --list           Print the ID and the behavior of each check, and run nothing.
          --self-test      Add one fault at a time to the stores, and report whether the check for it fails.
          --quiet          Print only failures.
          --verbose        Print the behavior and the duration of each check.
          --help           Print this help.

        """

    private struct Run {
        private var format = ConformanceReport.Format.text
        private var detail = ConformanceReport.Detail.usual
        private var filters: [String] = []
        private var stores: [String] = []
        private var flags: Set<String> = []
        private let checks: [ConformanceCheck]
        private let fixtures: [StoreFixture]

        init(_ arguments: [String], fixtures: [StoreFixture]) throws {
            let names = ["format", "filter", "store", "list", "self-test", "quiet", "verbose", "help"]
            var rest = arguments[...]
            while let argument = rest.popFirst() {
                let parts = argument.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                guard argument.hasPrefix("--"), let name = parts.first.map(String.init), names.contains(name) else {
                    let hint = nearestName(
                        to: String(argument.drop { $0 == "-" }.prefix { $0 != "=" }), among: names)
                    throw ConformanceArgumentError(
                        "unknown argument '\(argument)'\(hint.map { "; did you mean '--\($0)'?" } ?? "")")
                }
                guard ["format", "filter", "store"].contains(name) else {
                    guard parts.count == 1 else { throw ConformanceArgumentError("'--\(name)' takes no value") }
                    flags.insert(name)
                    continue
                }
                guard let value = parts.count > 1 ? String(parts[1]) : rest.popFirst(), !value.isEmpty else {
                    throw ConformanceArgumentError("'--\(name)' needs a value")
                }
                switch name {
                case "format": format = try ConformanceReport.Format(named: value)
                case "filter": filters.append(value)
                default: stores.append(value)
                }
            }
            if flags.contains("quiet"), format != .text || flags.contains("verbose") {
                throw ConformanceArgumentError(
                    "'--quiet' prints failures as text; leave out '--format' and '--verbose'")
            }
            if flags.contains("self-test"), format != .text {
                throw ConformanceArgumentError("'--self-test' prints text; leave out '--format'")
            }
            detail = flags.contains("quiet") ? .failures : flags.contains("verbose") ? .everything : .usual
            let needsChecks = flags.contains("list") || !flags.contains("self-test")
            checks = needsChecks ? try ConformanceCheck.matching(filters) : []
            for store in stores where !fixtures.contains(where: { $0.name == store }) {
                let names = fixtures.map(\.name)
                throw ConformanceArgumentError(
                    "no store type under test is called '\(store)'; the types are \(names.joined(separator: ", "))")
            }
            let peer = Bundle.main.executablePath.map { PeerProgram(path: $0, arguments: [peerArgument]) }
            let wanted = stores
            self.fixtures = fixtures.filter { wanted.isEmpty || wanted.contains($0.name) }
                .map { $0.peer == nil ? $0.with(peer: peer) : $0 }
        }

        func execute(_ write: (String) throws -> Void) throws -> Int32 {
            if flags.contains("help") {
                try write(ConformanceRunner.help)
                return 0
            }
            if flags.contains("list") {
                for check in checks { try write("\(check.id)  \(check.behavior)\n") }
                return 0
            }
            try Workbench.requireTemporaryDirectory()
            if flags.contains("self-test") { return try testSelf(write) }
            for fixture in fixtures {
                do throws(ConformanceFailure) { try fixture.requireSoundExclusions() } catch {
                    throw ConformanceArgumentError("the exclusions of '\(fixture.name)': \(error.actual)")
                }
            }
            var report = ConformanceReport(format, detail: detail)
            try write(report.beginning(checkCount: checks.count * fixtures.count))
            _ = try ConformanceRunner.run(checks, on: fixtures) { try write(report.add($0)) }
            try write(report.ending())
            return report.results.contains(where: \.isFailure) ? 1 : 0
        }

        private func testSelf(_ write: (String) throws -> Void) throws -> Int32 {
            let faults = FaultyStoreType.Fault.allCases.filter { fault in
                filters.isEmpty || filters.contains { fault.matches($0) }
            }
            guard !faults.isEmpty else {
                throw ConformanceArgumentError("no fault matches '\(filters.joined(separator: "' or '"))'")
            }
            var hasMissed = false
            for fixture in fixtures {
                var results: [ConformanceSelfTest.Result] = []
                for fault in faults {
                    for result in ConformanceSelfTest.run([fault], on: fixture) {
                        results.append(result)
                        hasMissed = hasMissed || result.isFailure
                        if result.isFailure || !flags.contains("quiet") { try write("\(result.text)\n") }
                    }
                }
                if !flags.contains("quiet") {
                    try write("\(ConformanceSelfTest.summary(of: results, on: fixture))\n")
                }
            }
            return hasMissed ? 1 : 0
        }
    }
}

/// An invalid argument or exclusion.
package struct ConformanceArgumentError: Error {
    /// The problem and its remedy.
    package let message: String

    init(_ message: String) { self.message = message }
}

extension ConformanceReport.Format {
    /// Creates the format with this name.
    ///
    /// - Throws: ``ConformanceArgumentError`` for an unknown name; its message lists the formats.
    package init(named name: String) throws(ConformanceArgumentError) {
        guard let format = Self(rawValue: name) else {
            let names = Self.allCases.map(\.rawValue)
            let hint = nearestName(to: name, among: names).map { "; did you mean '\($0)'?" } ?? ""
            throw ConformanceArgumentError("option '--format' needs one of \(names.joined(separator: ", "))\(hint)")
        }
        self = format
    }
}

extension ConformanceCheck {
    /// Returns the checks that match any filter, in the order of ``all``; all checks without
    /// filters.
    ///
    /// - Throws: ``ConformanceArgumentError`` for a filter without a match.
    package static func matching(_ filters: [String]) throws(ConformanceArgumentError) -> [ConformanceCheck] {
        for filter in filters where !all.contains(where: { $0.matches(filter) }) {
            let names = all.flatMap { [$0.group, $0.id] }
            let hint =
                nearestName(to: filter, among: names).map { "did you mean '\($0)'?" }
                ?? "docs/conformance.md lists them all"
            throw ConformanceArgumentError("no check matches '--filter=\(filter)'; \(hint)")
        }
        return all.filter { check in filters.isEmpty || filters.contains { check.matches($0) } }
    }
}

extension StoreFixture {
    fileprivate func with(peer: PeerProgram?) -> StoreFixture {
        StoreFixture(
            type, name: name, keepsClosedStores: keepsClosedStores, exclusions: exclusions,
            peer: peer
        ).with {
            $0.options = options
            $0.makeLocation = makeLocation
            $0.sample = sample
        }
    }
}
