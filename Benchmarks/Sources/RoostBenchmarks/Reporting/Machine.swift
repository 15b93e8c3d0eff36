internal import Foundation
internal import Roost

/// The machine and software of a run.
struct Machine: Codable {
    var processor: String
    var cores: Int
    var system: String
    /// The libraries that the stores use, with their versions.
    var libraries: [String]

    static var current: Machine {
        let libraries = StoreRegistry.standard.all.flatMap(\.libraries).map { "\($0.name) \($0.version)" }
        return Machine(
            processor: value(of: "model name", in: "/proc/cpuinfo", separator: ":") ?? architecture,
            cores: ProcessInfo.processInfo.activeProcessorCount,
            system: value(of: "PRETTY_NAME", in: "/etc/os-release", separator: "=")
                ?? ProcessInfo.processInfo.operatingSystemVersionString,
            libraries: Array(Set(libraries)).sorted())
    }

    private static var architecture: String {
        #if arch(x86_64)
            "x86-64"
        #elseif arch(arm64)
            "arm64"
        #else
            "unknown processor"
        #endif
    }

    /// Returns the text after the separator in a file's first line that begins with `name`.
    private static func value(of name: String, in path: String, separator: Character) -> String? {
        guard let data = FileManager.default.contents(atPath: path) else { return nil }
        for line in String(decoding: data, as: UTF8.self).split(separator: "\n") where line.hasPrefix(name) {
            let parts = line.split(separator: separator, maxSplits: 1)
            return parts.count == 2 ? parts[1].trimmingCharacters(in: CharacterSet(charactersIn: " \t\"")) : nil
        }
        return nil
    }

    /// The commit of the checkout, with `+` if tracked files have changes; `unknown` without a
    /// checkout.
    static var commit: String {
        guard let commit = git("rev-parse", "--short=10", "HEAD") else { return "unknown" }
        return git("status", "--porcelain", "--untracked-files=no")?.isEmpty == false ? commit + "+" : commit
    }

    private static func git(_ arguments: String...) -> String? {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["git"] + arguments
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil, let data = try? output.fileHandleForReading.readToEnd() ?? Data() else {
            return nil
        }
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { return nil }
        return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
