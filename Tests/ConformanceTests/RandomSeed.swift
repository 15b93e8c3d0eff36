import Foundation

/// Seeds of random tests, which the environment can set to repeat a run.
enum RandomSeed {
    /// Returns the number in the environment variable, or a random one.
    static func named(_ variable: String) -> UInt64 {
        ProcessInfo.processInfo.environment[variable].flatMap { UInt64($0) } ?? UInt64.random(in: 1...999_999)
    }
}
