internal import Roost
internal import RoostCore
internal import RoostFiles
internal import RoostMigration

/// A command line that is invalid or contains an unknown name.
///
/// The command ends with exit code 2. After an error of a store, a model or the system, the code is
/// 3. So a script can distinguish a misspelled name from a broken disk.
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

    /// Runs code that reads only arguments, and turns errors of ``readingCodes`` into usage errors.
    static func reading<Result>(_ body: () throws -> Result) throws -> Result {
        try converting(readingCodes, body)
    }

    /// Runs a request that the arguments describe, and turns errors of ``requestCodes`` into usage
    /// errors.
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
    /// Two errors become usage errors: an invalid request, and a version that the bundle does not
    /// have. A missing file is not a usage error.
    static func readingModel<Result>(at path: String, version: String?, _ body: () throws -> Result) throws -> Result {
        do { return try body() } catch let error as StoreError {
            let isUnknownVersion = version != nil && error.code == .notFound && StoreFile.hasEntry(at: path)
            guard isUnknownVersion || error.code == .invalidRequest else { throw error }
            throw UsageError(RoostTool.line(error.message))
        }
    }
}
