/// A failure of a persistent store, of a model, or of a conversion.
///
/// ``code`` is for programs, ``message`` for people: it names what failed (entity, property,
/// object, file) and, where there is one, the remedy. A message never contains a stored value, so
/// that logs do not leak data.
///
/// ```swift
/// do {
///     try store.insert("Album", rows: [["title": "Blue", "year": 19]])
/// } catch {
///     guard error.code == .validationFailed else { throw error }
///     for failure in error.failures { print(failure) }
/// }
/// ```
public struct StoreError: Error, Sendable, Adjustable {
    /// The kind of a failure, for programs.
    ///
    /// An open set: minor releases may add codes.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The stable name of the code, as JSON outputs and tests show it.
        public let description: String

        /// Makes a code of its own for a third party's store; built-in codes are the static
        /// members.
        public init(_ name: String) { description = name }
    }

    /// The kind of failure, for programs.
    public private(set) var code: Code
    /// A description of the failure, its place and the remedy, for people; one line, without stored
    /// values.
    ///
    /// Names that a file holds may have any length: words of more than 1 KiB, and text beyond 64
    /// KiB, are cut in their middle.
    public private(set) var message: String
    /// The objects that another commit changed since they were read; only with code
    /// ``Code/conflict``.
    public var conflicts: [ObjectConflict] = []
    /// The pairs of objects that claim the same unique values; only with code
    /// ``Code/constraintViolation``.
    public var violations: [ConstraintViolation] = []
    /// The objects that cannot be deleted, with the reasons; only with code ``Code/deleteDenied``.
    public var denials: [DeleteDenial] = []
    /// The objects that must exist and do not, each once; only with code ``Code/objectNotFound``.
    ///
    /// The missing end of a link is named by the entity that the relationship declares.
    public var missingObjects: [ObjectID] = []
    /// The values and relationships that break a rule of the model; only with code
    /// ``Code/validationFailed``.
    public var failures: [ValidationFailure] = []
    /// The one object that cannot be read, and nil if more than one object is affected.
    ///
    /// Set only with code ``Code/corrupted``, and with ``Code/limitExceeded`` for an object that is
    /// too large.
    public private(set) var damagedObject: ObjectID?
    /// The place in a text that could not be read, as a number of characters from 1; nil for other
    /// errors.
    package var textColumn: Int?
    /// The backend's own error, for example an SQLite extended result code.
    public let underlying: (any Error)?

    /// Makes an error.
    public init(
        _ code: Code, _ message: String, damagedObject: ObjectID? = nil, underlying: (any Error)? = nil
    ) {
        self.code = code
        self.message = Self.fitting(message)
        self.damagedObject = damagedObject
        self.underlying = underlying
    }

    /// A text as a message has it: of bounded length, and without control characters.
    private static func fitting(_ text: String) -> String { line(MessageText.bounded(text)) }

    /// The text without what steers a terminal and without line breaks, which a name that a program
    /// was given may hold.
    ///
    /// A line feed before two spaces stays: lists of problems have a line for each.
    private static func line(_ text: String) -> String {
        func isUnfit(_ scalar: Unicode.Scalar) -> Bool { scalar.properties.generalCategory == .control }
        guard text.unicodeScalars.contains(where: isUnfit) else { return text }
        let items = text.split(separator: "\n  ", omittingEmptySubsequences: false)
        return items.map { item in
            item.unicodeScalars.map { isUnfit($0) ? $0.escaped(asASCII: true) : String($0) }.joined()
        }.joined(separator: "\n  ")
    }

    /// Returns the same error with another message.
    ///
    /// Use it to say where an error happened, or what to do about it. Code and payloads stay:
    ///
    /// ```swift
    /// do throws(StoreError) { try read(file) } catch {
    ///     throw error.withMessage("'\(file)': \(error.message)")
    /// }
    /// ```
    public func withMessage(_ message: String) -> StoreError {
        // A copy, so that payloads that are added later stay too.
        var error = self
        error.message = Self.fitting(message)
        return error
    }

    /// Returns the same error with another message and code; its payloads stay.
    package func withMessage(_ message: String, code: Code) -> StoreError {
        var error = withMessage(message)
        error.code = code
        return error
    }

    /// Returns the same error with `place` and a colon in front of its message.
    package func located(in place: String) -> StoreError { withMessage("\(place): \(message)") }

    /// Returns the same error, naming `object` as the damaged one.
    package func naming(damagedObject object: ObjectID) -> StoreError {
        var error = self
        error.damagedObject = object
        return error
    }

    /// The same error without the object that it names as damaged; all other payloads stay.
    ///
    /// For an answer that the object is not part of, such as a count: a caller that skips damaged
    /// objects must not continue without this one.
    package var withoutDamagedObject: StoreError {
        var error = self
        error.damagedObject = nil
        return error
    }

    /// Whether the same call can succeed later without a change to the data or the model.
    public var isRetryable: Bool { code == .busy || code == .timedOut }
}

extension StoreError: CustomStringConvertible {
    /// The code and the message, and the backend's own error, if any.
    public var description: String {
        guard let underlying else { return "\(code): \(message)" }
        return "\(code): \(message) (\(underlying))"
    }
}

extension StoreError.Code {
    // MARK: Finding and opening

    /// The expected file, or the store of that name, does not exist.
    public static let notFound = Self("notFound")
    /// Something exists where the store would be created.
    public static let alreadyExists = Self("alreadyExists")
    /// The directory that should hold the store does not exist.
    public static let missingDirectory = Self("missingDirectory")
    /// The file is not a store of this type: another format, an empty file, a directory, a device.
    public static let notAStore = Self("notAStore")
    /// The store was written by a newer version of the format.
    ///
    /// Use a newer program.
    public static let unsupportedVersion = Self("unsupportedVersion")
    /// The version hashes in the store's metadata are not those of the model.
    ///
    /// Migrate first.
    public static let modelMismatch = Self("modelMismatch")
    /// No store type of that name is registered.
    public static let unknownStoreType = Self("unknownStoreType")
    /// The store or its directory may not be read or written by this user.
    public static let permissionDenied = Self("permissionDenied")
    /// The store was opened read-only, or its type cannot write.
    public static let readOnly = Self("readOnly")
    /// The store file has other names (hard links).
    ///
    /// Another name has a lock and a log of its own, so commits under two names would be lost.
    /// Remove the other names, or read the file with ``StoreOptions/acceptsLinks``.
    public static let hasOtherNames = Self("hasOtherNames")

    // MARK: While open

    /// Another process or thread holds a lock that is needed.
    ///
    /// The same call can succeed later.
    public static let busy = Self("busy")
    /// The store, snapshot, cursor or loader was closed before.
    public static let closed = Self("closed")
    /// Since the store was opened, another file has taken its name.
    ///
    /// Close it and open the new one.
    public static let storeReplaced = Self("storeReplaced")
    /// The bytes on disk break the store's own format, or a checksum does not match.
    public static let corrupted = Self("corrupted")
    /// The disk, or a quota, is full.
    ///
    /// Nothing of the change was written.
    public static let noSpace = Self("noSpace")
    /// The system reported an input or output error.
    public static let ioFailure = Self("ioFailure")
    /// The system or a library is out of memory or handles.
    public static let outOfResources = Self("outOfResources")
    /// A deadline passed.
    public static let timedOut = Self("timedOut")
    /// The answer of a server to a commit was lost, and the server could not be asked again in
    /// time.
    ///
    /// The commit took place once or not at all. Read the objects again before you repeat it.
    public static let outcomeUnknown = Self("outcomeUnknown")
    /// The server ended the transaction of a snapshot.
    ///
    /// Take a new snapshot.
    public static let snapshotExpired = Self("snapshotExpired")
    /// The operation was cancelled by the caller.
    public static let cancelled = Self("cancelled")

    // MARK: Data and requests

    /// Another commit changed objects since they were read; ``StoreError/conflicts`` lists them.
    ///
    /// Nothing was written.
    public static let conflict = Self("conflict")
    /// Two objects claim the same unique values; ``StoreError/violations`` lists them.
    ///
    /// Nothing was written.
    public static let constraintViolation = Self("constraintViolation")
    /// Objects cannot be deleted because of others that stay; ``StoreError/denials`` lists them.
    ///
    /// Nothing was written.
    public static let deleteDenied = Self("deleteDenied")
    /// An object with that ID exists already.
    public static let duplicateObject = Self("duplicateObject")
    /// No object with that ID exists; ``StoreError/missingObjects`` lists the objects that a commit
    /// needs.
    public static let objectNotFound = Self("objectNotFound")
    /// Objects break rules of the model; ``StoreError/failures`` lists every failure.
    ///
    /// Nothing was written.
    public static let validationFailed = Self("validationFailed")
    /// The model has no entity of that name.
    public static let unknownEntity = Self("unknownEntity")
    /// The entity has no property of that name, or none that can be used this way.
    public static let unknownProperty = Self("unknownProperty")
    /// A value has the wrong type or lies outside what its attribute can hold.
    public static let invalidValue = Self("invalidValue")
    /// The history after a token was removed, or never recorded.
    ///
    /// Read everything again in one snapshot, and continue after the current token of that
    /// snapshot.
    public static let historyExpired = Self("historyExpired")
    /// The request makes no sense: an abstract entity, records out of order, a negative limit.
    public static let invalidRequest = Self("invalidRequest")
    /// A limit of the format or of the configuration would be exceeded: record size, key length,
    /// map size.
    public static let limitExceeded = Self("limitExceeded")
    /// A model document has errors; the message lists them.
    public static let invalidModel = Self("invalidModel")
    /// A mapping model has errors, or does not fit the models it is used with; the message lists
    /// them.
    public static let invalidMappingModel = Self("invalidMappingModel")
    /// No mapping model can be inferred for two models; the message lists every reason.
    ///
    /// Give an explicit one.
    public static let mappingNotInferable = Self("mappingNotInferable")
    /// The store's type lacks the capability.
    ///
    /// Nothing happened.
    public static let unsupported = Self("unsupported")
    /// The finished destination does not hold what was read from the source.
    ///
    /// Do not use it; a destination that the conversion created was discarded.
    public static let verificationFailed = Self("verificationFailed")
    /// An object could not become one of the new model: a mandatory property has no value, a value
    /// does not fit, or a policy failed.
    ///
    /// The source is as it was; nothing is left of the destination.
    public static let migrationFailed = Self("migrationFailed")
    /// The operation would drop objects or values, and that was not allowed.
    ///
    /// Nothing was changed. The message names what would be lost.
    public static let lossRefused = Self("lossRefused")
    /// Something that Roost or a backend guarantees did not hold.
    ///
    /// Please report it.
    public static let internalInconsistency = Self("internalInconsistency")
}

/// An object that a change set wanted to update or delete at a version that is no longer current.
///
/// ```swift
/// do {
///     _ = try store.commit(changes)
/// } catch {
///     for conflict in error.conflicts {
///         print(conflict.id, conflict.current == nil ? "was deleted" : "was changed")
///     }
/// }
/// ```
public struct ObjectConflict: Sendable {
    /// The object in conflict.
    public let id: ObjectID
    /// The version the change set was based on.
    public let expectedVersion: UInt32
    /// The record as it is in the store now; nil when the object was deleted.
    public let current: Record?

    /// Makes a conflict.
    public init(id: ObjectID, expectedVersion: UInt32, current: Record?) {
        self.id = id
        self.expectedVersion = expectedVersion
        self.current = current
    }
}

/// Two objects that claim the same values of a uniqueness constraint.
///
/// ```swift
/// do {
///     try store.insert("Album", rows: rows)
/// } catch {
///     for violation in error.violations {
///         print(violation.rejected, "has the", violation.attributes, "of", violation.existing)
///     }
/// }
/// ```
public struct ConstraintViolation: Sendable, Hashable {
    /// The entity that declares the constraint.
    public let entity: EntityName
    /// The attributes of the constraint, in the model's order.
    public let attributes: [String]
    /// The object that was to be written.
    public let rejected: ObjectID
    /// The object that holds the values, in the store or earlier in the same change set.
    public let existing: ObjectID

    /// Makes a violation.
    public init(entity: EntityName, attributes: [String], rejected: ObjectID, existing: ObjectID) {
        self.entity = entity
        self.attributes = attributes
        self.rejected = rejected
        self.existing = existing
    }
}

extension StoreError {
    /// An error about pairs of objects with equal unique values.
    ///
    /// - Parameters:
    ///   - violations: The pairs, some of them if there are many.
    ///   - furtherCount: How many more there are.
    ///   - underlying: What the database said.
    /// - Returns: The error, of code `constraintViolation`.
    package static func constraintViolations(
        _ violations: [ConstraintViolation], furtherCount: Int = 0, underlying: (any Error)? = nil
    ) -> StoreError {
        guard let first = violations.first else {
            return StoreError(
                .constraintViolation, "Two objects have the same unique values.", underlying: underlying)
        }
        let more = violations.count - 1 + furtherCount
        let others = more == 0 ? "" : " There are \(more) more such pairs."
        return StoreError(
            .constraintViolation,
            "\(first.rejected) and \(first.existing) have the same \(first.attributes.joined(separator: ", ")), which must be unique in '\(first.entity)'; nothing was written. Give one of them other values.\(others)",
            underlying: underlying
        ).with { $0.violations = violations }
    }
}
