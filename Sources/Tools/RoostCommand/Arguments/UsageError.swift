internal import Roost
internal import RoostCore
internal import RoostFiles
internal import RoostMigration

/// A command line that is invalid or contains an unknown name.
///
/// The command ends with exit code 2, so that a script can distinguish a misspelled name from a
/// broken disk.
struct UsageError: Error {
    /// The problem and its remedy.
    let message: String

    init(_ message: String) { self.message = message }
}

extension UsageError {
    /// The codes of store errors that are usage errors in code that reads only arguments.
    static let readingCodes: Set<StoreError.Code> = [
        .unknownEntity, .unknownProperty, .unknownStoreType, .unknownModelVersion, .invalidRequest, .invalidValue,
        .limitExceeded, .unsupported,
    ]
    /// The codes of errors with which a store refuses a request before it reads anything.
    private static let requestCodes: Set<StoreError.Code> = [.unknownEntity, .unknownProperty, .invalidRequest]

    static func reading<Result>(_ body: () throws -> Result) throws -> Result {
        try converting(readingCodes, body)
    }

    static func requesting<Result>(_ body: () throws -> Result) throws -> Result {
        try converting(requestCodes, body)
    }

    private static func converting<Result>(
        _ codes: Set<StoreError.Code>, _ body: () throws -> Result
    ) throws -> Result {
        do { return try body() } catch let error as StoreError where codes.contains(error.code) {
            throw UsageError(RoostTool.line(error.message))
        }
    }

    /// Runs code that reads a model, and turns an invalid request or an unknown version into a
    /// usage error.
    static func readingModel<Result>(at path: String, version: String?, _ body: () throws -> Result) throws -> Result {
        do { return try body() } catch let error as StoreError {
            let isUnknownVersion = version != nil && error.code == .notFound && StoreFile.hasEntry(at: path)
            guard isUnknownVersion || error.code == .invalidRequest else { throw error }
            throw UsageError(RoostTool.line(error.message))
        }
    }
}
