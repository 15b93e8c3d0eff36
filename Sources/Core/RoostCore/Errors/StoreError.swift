/// A failure of a persistent store, of a model, or of a conversion.
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
    /// The kind of a failure.
    ///
    /// Minor releases may add codes.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The stable name of the code.
        public let description: String

        /// Creates a code for a third party's store.
        public init(_ name: String) { description = name }
    }

    /// The kind of failure.
    public private(set) var code: Code
    /// A description of the failure, its location and the remedy, for people.
    ///
    /// The message contains no stored value, so that logs do not leak data. It is one line, except
    /// that a list adds one line per problem. Words above 1 KiB and messages above 64 KiB are
    /// shortened in the middle.
    public private(set) var message: String
    /// The objects that another commit changed or deleted since they were read; only with code
    /// `Code.conflict`.
    public var conflicts: [ObjectConflict] = []
    /// The pairs of objects that have the same unique values, up to a limit; only with code
    /// `Code.constraintViolation`.
    public var violations: [ConstraintViolation] = []
    /// The objects that cannot be deleted, with the reasons; only with code `Code.deleteDenied`.
    public var denials: [DeleteDenial] = []
    /// The required objects that do not exist, each once; only with code `Code.objectNotFound` or
    /// `Code.validationFailed`.
    ///
    /// The ID of a missing end of a link contains the relationship's source or destination entity.
    public var missingObjects: [ObjectID] = []
    /// The values and relationships that break a rule, up to a limit; only with code
    /// `Code.validationFailed` or `Code.deleteDenied`.
    public var failures: [ValidationFailure] = []
    /// The object that cannot be read; nil if it is unknown or several objects are affected.
    ///
    /// Set only with code `Code.corrupted`, and with `Code.limitExceeded` for an object that is
    /// too large.
    public private(set) var damagedObject: ObjectID?
    /// The column of an error in the text of a predicate, in characters from 1.
    package var textColumn: Int?
    /// The cause, such as the backend's error with an SQLite extended result code.
    public let underlying: (any Error)?

    /// Creates an error.
    public init(
        _ code: Code, _ message: String, damagedObject: ObjectID? = nil, underlying: (any Error)? = nil
    ) {
        self.code = code
        self.message = Self.fitting(message)
        self.damagedObject = damagedObject
        self.underlying = underlying
    }

    private static func fitting(_ text: String) -> String { line(MessageText.bounded(text)) }

    /// Escapes control characters, except a line feed before two spaces, which separates the
    /// problems of a list.
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
    /// All other properties are unchanged. Use this method to add the location or the remedy:
    ///
    /// ```swift
    /// do throws(StoreError) { try read(file) } catch {
    ///     throw error.withMessage("'\(file)': \(error.message)")
    /// }
    /// ```
    public func withMessage(_ message: String) -> StoreError {
        // A copy preserves properties that are added to this type later.
        var error = self
        error.message = Self.fitting(message)
        return error
    }

    package func withMessage(_ message: String, code: Code) -> StoreError {
        var error = withMessage(message)
        error.code = code
        return error
    }

    package func located(in place: String) -> StoreError { withMessage("\(place): \(message)") }

    package func naming(damagedObject object: ObjectID) -> StoreError {
        var error = self
        error.damagedObject = object
        return error
    }

    /// The same error without the damaged object, for operations that need every object.
    ///
    /// A caller that skips damaged objects then stops at this error.
    package var withoutDamagedObject: StoreError {
        var error = self
        error.damagedObject = nil
        return error
    }

    /// Whether the code is `busy` or `timedOut`, so that the same call can succeed later.
    public var isRetryable: Bool { code == .busy || code == .timedOut }
}

extension StoreError: CustomStringConvertible {
    /// The code and the message, and the underlying error if any.
    public var description: String {
        guard let underlying else { return "\(code): \(message)" }
        return "\(code): \(message) (\(underlying))"
    }
}

extension StoreError.Code {
    // MARK: Finding and opening

    /// The expected file, or the store with the given name, does not exist.
    public static let notFound = Self("notFound")
    /// A file or store already exists at the location.
    public static let alreadyExists = Self("alreadyExists")
    /// The directory that should hold the store does not exist.
    public static let missingDirectory = Self("missingDirectory")
    /// The file is not a store of this type: it has another format, is empty, or is a directory or
    /// a device.
    public static let notAStore = Self("notAStore")
    /// The store or document has a newer format, or the store requires an unknown feature.
    ///
    /// Use a newer program.
    public static let unsupportedVersion = Self("unsupportedVersion")
    /// The version hashes of the store or the request differ from those of the expected model, or
    /// the tables of a Core Data store do not match the model.
    ///
    /// If the store has an older model, migrate the store first.
    public static let modelMismatch = Self("modelMismatch")
    /// No store type with the given name is registered.
    public static let unknownStoreType = Self("unknownStoreType")
    /// This user may not read or write the store or its directory.
    public static let permissionDenied = Self("permissionDenied")
    /// The store was opened read-only, or its file system is read-only.
    public static let readOnly = Self("readOnly")
    /// The store file has other names (hard links).
    ///
    /// Each name has its own lock and log, so commits under two names could be lost. Remove the
    /// other names, or read the file with ``StoreOptions/acceptsLinks``.
    public static let hasOtherNames = Self("hasOtherNames")

    // MARK: While open

    /// Another process or thread holds a required lock; the same call can succeed later.
    public static let busy = Self("busy")
    /// The store, snapshot, cursor or loader is closed.
    public static let closed = Self("closed")
    /// The store's files or tables were removed, replaced or changed by another program since the
    /// store was opened.
    ///
    /// Close the store and open it again.
    public static let storeReplaced = Self("storeReplaced")
    /// The bytes on disk break the store's own format, or a checksum does not match.
    public static let corrupted = Self("corrupted")
    /// The disk, or a quota, is full.
    ///
    /// The change was not written.
    public static let noSpace = Self("noSpace")
    /// The system reported an input or output error.
    public static let ioFailure = Self("ioFailure")
    /// The system or a library is out of memory or handles.
    public static let outOfResources = Self("outOfResources")
    /// A deadline passed.
    public static let timedOut = Self("timedOut")
    /// A server's response to a commit was lost, or a disk failed during a commit.
    ///
    /// The commit was either made once or not at all. Read the objects again before you repeat the
    /// commit. If the store refuses commits after a disk failed, first open the store again.
    public static let outcomeUnknown = Self("outcomeUnknown")
    /// The server ended the transaction of a snapshot.
    ///
    /// Create a new snapshot.
    public static let snapshotExpired = Self("snapshotExpired")
    /// The caller cancelled the operation.
    public static let cancelled = Self("cancelled")

    // MARK: Data and requests

    /// Another commit changed objects since they were read; ``StoreError/conflicts`` lists them.
    ///
    /// Nothing was written.
    public static let conflict = Self("conflict")
    /// Two objects have the same unique values; ``StoreError/violations`` lists them.
    ///
    /// Nothing was written.
    public static let constraintViolation = Self("constraintViolation")
    /// Objects cannot be deleted because of remaining objects; ``StoreError/denials`` lists them.
    ///
    /// Nothing was written.
    public static let deleteDenied = Self("deleteDenied")
    /// An object with this ID already exists.
    public static let duplicateObject = Self("duplicateObject")
    /// No object with this ID exists.
    ///
    /// After a failed commit, ``StoreError/missingObjects`` lists all missing objects.
    public static let objectNotFound = Self("objectNotFound")
    /// Objects break rules; ``StoreError/failures`` lists the failures, up to a limit.
    ///
    /// Nothing was written.
    public static let validationFailed = Self("validationFailed")
    /// The model has no entity with the given name.
    public static let unknownEntity = Self("unknownEntity")
    /// The entity has no property with the given name, or the property cannot be used here.
    public static let unknownProperty = Self("unknownProperty")
    /// A value has the wrong type, or is outside the range of its attribute.
    public static let invalidValue = Self("invalidValue")
    /// The history that follows a token was removed or never recorded.
    ///
    /// Read everything again in one snapshot, and continue after the current token of that
    /// snapshot.
    public static let historyExpired = Self("historyExpired")
    /// The request is invalid; examples are an abstract entity, records out of order and a negative
    /// limit.
    public static let invalidRequest = Self("invalidRequest")
    /// A limit of the format or of the configuration would be exceeded, such as the record size,
    /// key length or map size.
    public static let limitExceeded = Self("limitExceeded")
    /// A model document has errors; the message lists them.
    public static let invalidModel = Self("invalidModel")
    /// A mapping model has errors, or does not match its source and destination models; the message
    /// lists the errors.
    public static let invalidMappingModel = Self("invalidMappingModel")
    /// No mapping model can be inferred for two models; the message lists every reason.
    ///
    /// Provide an explicit mapping model.
    public static let mappingNotInferable = Self("mappingNotInferable")
    /// The store's type lacks a capability that the call requires.
    ///
    /// The call had no effect.
    public static let unsupported = Self("unsupported")
    /// The content of a conversion's destination differs from the content of the source.
    ///
    /// If the conversion created the destination, the destination was removed. Otherwise, do not
    /// use it.
    public static let verificationFailed = Self("verificationFailed")
    /// An object could not be converted to the new model: a mandatory property has no value, a
    /// value does not fit, or a policy failed.
    ///
    /// The source is unchanged, and the destination was removed.
    public static let migrationFailed = Self("migrationFailed")
    /// The operation would lose objects or values, and the caller did not allow this.
    ///
    /// Nothing was changed. The message describes the loss.
    public static let lossRefused = Self("lossRefused")
    /// A guarantee of Roost or of a backend was violated.
    ///
    /// Please report it.
    public static let internalInconsistency = Self("internalInconsistency")
}

/// A conflict about one object of a change set: the object does not exist in the store, or has
/// another version there.
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
    /// The object's version in the change set.
    public let expectedVersion: UInt32
    /// The current record in the store; nil if no object has both the entity and the key of ``id``.
    public let current: Record?

    /// Creates a conflict.
    public init(id: ObjectID, expectedVersion: UInt32, current: Record?) {
        self.id = id
        self.expectedVersion = expectedVersion
        self.current = current
    }
}

/// Two objects that have the same values for a uniqueness constraint.
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
    /// The attributes and to-one relationships of the constraint, in the model's order.
    public let attributes: [String]
    /// The object that was rejected.
    public let rejected: ObjectID
    /// The object that already has the values, in the store or earlier in the same change set.
    public let existing: ObjectID

    /// Creates a violation.
    public init(entity: EntityName, attributes: [String], rejected: ObjectID, existing: ObjectID) {
        self.entity = entity
        self.attributes = attributes
        self.rejected = rejected
        self.existing = existing
    }
}

extension StoreError {
    /// Returns an error about pairs of objects with equal unique values.
    ///
    /// `furtherCount` is the number of pairs that `violations` omits.
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
