internal import Roost
internal import RoostCore
internal import RoostFiles
internal import RoostMigration

/// A command line that is invalid, or that refers to something missing.
///
/// The command ends with exit code 2. An error of a store, a model or the system ends with 3, so a
/// script can distinguish a misspelled name from a broken disk.
struct UsageError: Error {
    /// The problem and its remedy.
    let message: String

    init(_ message: String) { self.message = message }
}

extension UsageError {
    /// The error codes that are caused by the arguments if only arguments are read.
    static let readingCodes: Set<StoreError.Code> = [
        .unknownEntity, .unknownProperty, .unknownStoreType, .unknownModelVersion, .invalidRequest, .invalidValue,
        .limitExceeded, .unsupported,
    ]
    /// The error codes of a request that a store refuses before it reads.
    private static let requestCodes: Set<StoreError.Code> = [.unknownEntity, .unknownProperty, .invalidRequest]

    /// Runs code that reads only arguments: predicates, names of entities and properties, URLs.
    static func reading<Result>(_ body: () throws -> Result) throws -> Result {
        try converting(readingCodes, body)
    }

    /// Runs code that sends a store a request that comes from the arguments.
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

    /// Runs code that reads a model.
    ///
    /// A version that is missing in its bundle is a usage error. A missing file is not.
    static func readingModel<Result>(at path: String, version: String?, _ body: () throws -> Result) throws -> Result {
        do { return try body() } catch let error as StoreError {
            let isUnknownVersion = version != nil && error.code == .notFound && StoreFile.hasEntry(at: path)
            guard isUnknownVersion || error.code == .invalidRequest else { throw error }
            throw UsageError(RoostTool.line(error.message))
        }
    }
}
