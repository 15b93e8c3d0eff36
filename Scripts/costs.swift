// Compares counted instructions with recorded limits, or records new limits, for Scripts/costs.
//
// Each line of the counts has a subject, an operation, a number of objects and a number of
// instructions, separated by tabs.
import Foundation

/// The maximum counts of instructions, and the versions of the tools and libraries that they were
/// recorded with.
struct Limits: Codable {
    var recordedWith: [String] = []
    /// The maximum instructions per object, by subject and operation.
    var instructions: [String: [String: Double]] = [:]
}

/// The fraction by which a count may grow without a failure.
let tolerance = 0.03
/// An additional fraction, for machines with other processors.
let slack = (ProcessInfo.processInfo.environment["SLACK"].flatMap(Double.init) ?? 0) / 100

func output(_ program: String, _ arguments: [String]) -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [program] + arguments
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = FileHandle.nullDevice
    guard (try? process.run()) != nil else { return "\(program): unknown" }
    let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return text.split(separator: "\n").first.map(String.init) ?? "\(program): unknown"
}

func padded(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.count)) + text
}

let arguments = CommandLine.arguments
guard arguments.count >= 3 else {
    print("usage: costs.swift COUNTS LIMITS [--write]")
    exit(1)
}
let file = URL(fileURLWithPath: arguments[2])
let versions = [
    output(ProcessInfo.processInfo.environment["SWIFT"] ?? "swift", ["--version"]), output("valgrind", ["--version"]),
    "SQLite \(output("pkg-config", ["--modversion", "sqlite3"]))",
    "LMDB \(output("pkg-config", ["--modversion", "lmdb"]))",
    "xxHash \(output("pkg-config", ["--modversion", "libxxhash"]))",
]
var counted: [String: [String: Double]] = [:]
for line in try String(contentsOfFile: arguments[1], encoding: .utf8).split(separator: "\n") {
    let parts = line.split(separator: "\t")
    guard parts.count == 4, let objects = Double(parts[2]), let total = Double(parts[3]) else {
        print("costs: callgrind gave no count for \(line)")
        exit(1)
    }
    counted[String(parts[0]), default: [:]][String(parts[1])] = total / objects
}
var limits = (try? JSONDecoder().decode(Limits.self, from: Data(contentsOf: file))) ?? Limits()

if arguments.contains("--write") {
    limits.recordedWith = versions
    for (subject, operations) in counted {
        limits.instructions[subject] = operations.mapValues { ($0 * (1 + tolerance)).rounded(.up) }
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    try (encoder.encode(limits) + Data("\n".utf8)).write(to: file)
    print("costs: wrote \(arguments[2])")
    exit(0)
}

var problems: [String] = []
for (subject, operations) in counted.sorted(by: { $0.key < $1.key }) {
    let recorded = limits.instructions[subject] ?? [:]
    for (operation, instructions) in operations.sorted(by: { $0.key < $1.key }) {
        let limit = recorded[operation]
        let number = padded("\(Int(instructions.rounded()))", 9)
        print("\(number) of \(padded(limit.map { "\(Int($0))" } ?? "?", 9))  \(subject): \(operation)")
        guard let limit else {
            problems.append("\(subject), \(operation): no limit is recorded.")
            continue
        }
        if instructions > limit * (1 + slack) {
            let share = (instructions / limit * (1 + tolerance) - 1) * 100
            problems.append(
                "\(subject), \(operation): \(Int(instructions)) instructions, \(Int(share.rounded())) % more than recorded."
            )
        }
    }
    for operation in recorded.keys.sorted() where operations[operation] == nil {
        problems.append("\(subject), \(operation): was not counted.")
    }
}
// A call of `Store` may need 5 % more instructions than the equivalent call of `PersistentStore`.
for (subject, operations) in counted.sorted(by: { $0.key < $1.key }) {
    for (door, contract) in [
        ("Store.forEach, per object", "contract: fetch with a copy of each record, per object"),
        ("StoreView.fetch, per object", "contract: fetch into an array, per object"),
        ("Store.insert of 1000, per object", "contract: batch insert of 1000, per object"),
    ] {
        guard let mine = operations[door], let theirs = operations[contract], mine > theirs * (1.05 + slack) else {
            continue
        }
        problems.append(
            "\(subject), \(door): \(Int(mine)) instructions, over 5 % more than the \(Int(theirs)) of '\(contract)'.")
    }
}
guard problems.isEmpty else {
    print("\ncosts: \(problems.joined(separator: "\n       "))")
    if versions != limits.recordedWith {
        print("The limits were recorded with \(limits.recordedWith.joined(separator: "; ")).")
        print("This machine has \(versions.joined(separator: "; ")).")
    }
    print("Find the reason, or record new limits in \(arguments[2]) with the option --write.")
    exit(1)
}
let extra = slack > 0 ? ", with \(Int((slack * 100).rounded())) % of slack" : ""
print("costs: no operation takes more instructions than recorded\(extra)")
