import Foundation

/// Seeds of random tests: printed, and set again through the environment to repeat a run.
enum RandomSeed {
    /// The number in the environment variable, or a new one.
    static func named(_ variable: String) -> UInt64 {
        ProcessInfo.processInfo.environment[variable].flatMap { UInt64($0) } ?? UInt64.random(in: 1...999_999)
    }
}
