internal import RoostCore

extension FaultyStoreType {
    /// The faults of the stores.
    package enum Fault: String, CaseIterable, Sendable, CustomStringConvertible {
        // MARK: Values

        /// A string ends before its first U+0000.
        case truncatesAtNUL = "truncates-at-nul"
        /// Strings are converted to Unicode's composed normal form.
        case normalizesText = "normalizes-text"
        /// An empty string is stored as null.
        case takesEmptyForNull = "takes-empty-for-null"
        /// Dates are rounded to whole milliseconds.
        case roundsDates = "rounds-dates"
        /// Negative zero is stored as zero.
        case dropsSignOfZero = "drops-sign-of-zero"
        /// Every NaN is stored as the same NaN.
        case foldsNaNs = "folds-nans"
        /// Integers are converted to doubles and back.
        case narrowsIntegers = "narrows-integers"
        /// Decimals are converted to doubles and back.
        case narrowsDecimals = "narrows-decimals"

        // MARK: Reading

        /// A read of several links omits the last one.
        case dropsLastLink = "drops-last-link"
        case forgetsPlaces = "forgets-places"
        /// A scan of several records leaves out the last one.
        case losesLastRecord = "loses-last-record"
        /// A scan leaves out the last record of each full batch.
        case losesRecordsBetweenBatches = "loses-records-between-batches"
        /// A scan returns the records of a batch in descending order.
        case reversesBatches = "reverses-batches"
        /// A scan begins at the first record, even if it should begin after a key.
        case startsOver = "starts-over"
        /// A record cursor keeps the old content of the first batch that it fills.
        case keepsBatchContents = "keeps-batch-contents"
        /// A scan of an entity returns objects of subentities without the subentities' properties.
        case cutsSubentities = "cuts-subentities"
        case ignoresOrder = "ignores-order"
        case ignoresLimit = "ignores-limit"
        /// Counts ignore limit and offset.
        case miscounts
        /// A comparison with null is neither true nor false, as in SQL, so its negation is not true
        /// either.
        case followsThreeValuedLogic = "follows-three-valued-logic"
        /// `[c]` has no effect on a comparison with a constant beyond ASCII.
        case foldsASCIIOnly = "folds-ascii-only"
        /// ALL has the meaning of ANY.
        case ignoresQuantifiers = "ignores-quantifiers"
        /// Each condition of a SUBQUERY may be met by a different object.
        case partsSubqueries = "parts-subqueries"
        /// `@count` leaves out nulls.
        case leavesNullsOut = "leaves-nulls-out"
        /// The result of a division is truncated.
        case dividesWholeNumbers = "divides-whole-numbers"
        /// A pattern's `?` and `*` are ordinary characters.
        case takesPatternsLiterally = "takes-patterns-literally"
        case bindsOrTighter = "binds-or-tighter"
        /// Links of several objects are returned in the order of the objects' keys.
        case ordersLinkOwners = "orders-link-owners"
        /// A request for IDs returns them in the order of keys.
        case listsIDsByKey = "lists-ids-by-key"
        /// Objects that sort as equal are returned by descending key.
        case breaksTiesBackwards = "breaks-ties-backwards"

        // MARK: Committing

        /// Updates and deletes succeed with any version.
        case ignoresVersions = "ignores-versions"
        case ignoresUnchanged = "ignores-unchanged"
        /// The expected last places of ordered relationships are not checked.
        case ignoresLastPlaces = "ignores-last-places"
        case ignoresExisting = "ignores-existing"
        /// Referenced objects are deleted, although the change set forbids it.
        case ignoresReferences = "ignores-references"
        /// References to a deleted object are checked, but not its links.
        case overlooksLinks = "overlooks-links"
        /// An error about missing objects does not list them.
        case namesNoMissingObject = "names-no-missing-object"
        case namesOneConflict = "names-one-conflict"
        /// A constraint-violation error names only one pair of objects.
        case namesOneViolation = "names-one-violation"
        case admitsTakenValues = "admits-taken-values"
        /// An insert of an existing object replaces it.
        case overwritesObjects = "overwrites-objects"
        /// The inserts of a refused change set are written.
        case writesHalf = "writes-half"
        case leavesLinks = "leaves-links"
        /// Links are removed after the new links are added.
        case removesLinksLast = "removes-links-last"
        case forgetsMetadata = "forgets-metadata"
        case repeatsGenerations = "repeats-generations"
        /// A receipt has the new generation as the previous generation too.
        case forgetsPreviousGeneration = "forgets-previous-generation"
        /// A receipt lists no objects.
        case forgetsTouchedObjects = "forgets-touched-objects"
        /// A store of more than three objects has the recorded tally of an empty store.
        case recordsOldDigest = "records-old-digest"
        /// Errors of commits show the inserted values.
        case leaksValues = "leaks-values"

        // MARK: Batches

        /// A batch insert commits each row separately, so that rows before an invalid row remain.
        case insertsRowByRow = "inserts-row-by-row"
        /// A batch update skips objects of subentities.
        case updatesOneEntity = "updates-one-entity"
        /// Batch requests follow the store's own model and ignore the model that is passed.
        case ignoresProgramModel = "ignores-program-model"
        case ignoresDeleteRules = "ignores-delete-rules"

        // MARK: Keys

        case reusesKeys = "reuses-keys"
        /// After reopening, keys above the last existing object's key are reserved again.
        case forgetsUsedKeys = "forgets-used-keys"

        // MARK: Isolation

        case showsLaterCommits = "shows-later-commits"
        case showsUnfinishedLoads = "shows-unfinished-loads"
        /// Cursors of a closed snapshot continue to read.
        case leaksCursors = "leaks-cursors"

        // MARK: Bulk loading

        /// A load takes the write lock only when it finishes, so other commits do not wait.
        case letsWritersPass = "lets-writers-pass"
        case keepsAbandonedLoads = "keeps-abandoned-loads"
        /// The used keys of a load's source are forgotten.
        case forgetsLoadedKeys = "forgets-loaded-keys"

        // MARK: Opening and closing

        /// The objects that the last commit inserted are missing after reopening.
        case losesLastCommit = "loses-last-commit"
        /// The metadata of a closed store can be read.
        case answersAfterClosing = "answers-after-closing"
        case staysOpen = "stays-open"
        case writesReadOnly = "writes-read-only"
        case swallowsOptions = "swallows-options"
        case acceptsAnyModel = "accepts-any-model"
        /// A new store does not get the given UUID.
        case inventsIdentity = "invents-identity"
        /// An existing store is replaced without `overwriting`.
        case replacesUnasked = "replaces-unasked"

        // MARK: History

        /// The second transaction of a history is left out.
        case losesTransaction = "loses-transaction"
        /// A transaction's author differs from its commit's.
        case misnamesAuthor = "misnames-author"
        case turnsTimeBack = "turns-time-back"
        /// All parts of a large transaction except the last are left out.
        case skipsParts = "skips-parts"
        /// The last changed property of each change is left out.
        case forgetsProperty = "forgets-property"
        /// The values of deleted objects are left out.
        case forgetsDeletedValues = "forgets-deleted-values"
        case keepsPurged = "keeps-purged"
        /// A token of another store is treated as no token.
        case acceptsForeignTokens = "accepts-foreign-tokens"
        case recordsNoLinks = "records-no-links"

        // MARK: Notices

        /// The second notice is lost.
        case losesNotice = "loses-notice"
        case takesDeletesForUpdates = "takes-deletes-for-updates"
        /// The second notice has the generations before and after its commit exchanged.
        case swapsGenerations = "swaps-generations"
        /// A notice of a commit through another open instance of the store reports no changes.
        case hidesOtherOpenings = "hides-other-openings"
        /// The notice of a bulk load claims to be complete, but lacks the loaded objects.
        case completesLoads = "completes-loads"
        /// Objects whose links alone changed are left out of notices.
        case forgetsLinkedObjects = "forgets-linked-objects"
        case signalsFailures = "signals-failures"

        // MARK: Damage

        /// A damaged record is returned without values.
        case readsDamage = "reads-damage"
        /// A commit that changes an object with a damaged record reports success.
        case signsDamage = "signs-damage"

        /// The ID of the check that looks for the fault; other checks may notice it too.
        package var caughtBy: String {
            switch self {
            case .truncatesAtNUL: "values.string.nul"
            case .normalizesText: "values.string.not-normalized"
            case .takesEmptyForNull: "values.string.empty-and-null"
            case .roundsDates: "values.date.extremes"
            case .dropsSignOfZero, .foldsNaNs: "values.double.bits"
            case .narrowsIntegers: "values.integer64.extremes"
            case .narrowsDecimals: "values.decimal.digits"
            case .dropsLastLink: "links.many-to-many"
            case .forgetsPlaces: "links.order"
            case .losesLastRecord: "inheritance.scan"
            case .losesRecordsBetweenBatches: "cursors.batches"
            case .reversesBatches: "changes.unordered-keys"
            case .startsOver: "cursors.after"
            case .keepsBatchContents: "cursors.replace-contents"
            case .cutsSubentities: "inheritance.sibling-fields"
            case .ignoresOrder: "fetch.sort.several-keys"
            case .ignoresLimit, .miscounts: "fetch.limit-and-offset"
            case .followsThreeValuedLogic: "fetch.two-valued-logic"
            case .foldsASCIIOnly: "queries.strings.folding"
            case .ignoresQuantifiers: "queries.graph.quantifiers"
            case .partsSubqueries: "queries.graph.correlation"
            case .leavesNullsOut: "queries.graph.collection-operators"
            case .dividesWholeNumbers: "queries.arithmetic"
            case .takesPatternsLiterally: "queries.strings.like"
            case .bindsOrTighter: "queries.precedence"
            case .ordersLinkOwners: "links.grouped"
            case .listsIDsByKey: "rows.ids"
            case .breaksTiesBackwards: "queries.graph.order"
            case .ignoresVersions: "versions.conflict.second-writer"
            case .ignoresUnchanged: "versions.unchanged.stale"
            case .ignoresLastPlaces: "versions.last-place"
            case .ignoresExisting: "references.two-writers"
            case .ignoresReferences: "references.unreferenced.fields"
            case .overlooksLinks: "references.unreferenced.links"
            case .namesNoMissingObject: "references.existing"
            case .forgetsPreviousGeneration: "changes.receipt.previous"
            case .forgetsTouchedObjects: "changes.receipt.objects"
            case .namesOneConflict: "versions.conflict.all-listed"
            case .namesOneViolation: "constraints.every-pair"
            case .admitsTakenValues: "constraints.single"
            case .overwritesObjects: "identity.insert.duplicate"
            case .writesHalf: "changes.atomic.every-part"
            case .leavesLinks: "links.deleted-with-object"
            case .removesLinksLast: "links.remove-before-add"
            case .forgetsMetadata: "metadata.user.commit"
            case .repeatsGenerations: "changes.generation"
            case .recordsOldDigest: "digest.recorded-is-computed"
            case .leaksValues: "errors.no-values"
            case .insertsRowByRow: "batch.insert.refused"
            case .updatesOneEntity: "batch.update.constants"
            case .ignoresProgramModel: "batch.program-model"
            case .ignoresDeleteRules: "batch.delete.rules"
            case .reusesKeys: "identity.reserve.disjoint"
            case .forgetsUsedKeys: "identity.reserve.survives"
            case .showsLaterCommits: "snapshots.unchanged"
            case .showsUnfinishedLoads: "bulk.invisible"
            case .leaksCursors: "snapshots.closed"
            case .letsWritersPass: "bulk.writers-wait"
            case .keepsAbandonedLoads: "bulk.abandon"
            case .forgetsLoadedKeys: "bulk.last-keys"
            case .losesLastCommit: "changes.durable"
            case .answersAfterClosing: "close.every-call"
            case .staysOpen: "destroy.removes"
            case .writesReadOnly: "opening.read-only.refuses"
            case .swallowsOptions: "opening.options.unknown"
            case .acceptsAnyModel: "opening.open.model-mismatch"
            case .inventsIdentity: "metadata.uuid.given"
            case .replacesUnasked: "replace.already-exists"
            case .losesTransaction: "history.order"
            case .misnamesAuthor: "history.author"
            case .turnsTimeBack: "history.time.monotonic"
            case .skipsParts: "history.large"
            case .forgetsProperty: "history.update.names"
            case .forgetsDeletedValues: "history.delete.values"
            case .keepsPurged: "history.purge.token"
            case .acceptsForeignTokens: "history.token.other-store"
            case .recordsNoLinks: "history.links"
            case .losesNotice, .swapsGenerations: "notices.many-writers"
            case .takesDeletesForUpdates, .forgetsLinkedObjects: "notices.kinds"
            case .hidesOtherOpenings: "notices.two-openings"
            case .completesLoads: "notices.batches"
            case .signalsFailures: "notices.signal"
            case .readsDamage: "damage.records-verified"
            case .signsDamage: "damage.not-signed"
            }
        }

        /// The ability that a store needs to show the fault, or nil.
        var neededAbility: StoreCapability? {
            switch self {
            case .losesNotice, .takesDeletesForUpdates, .swapsGenerations, .hidesOtherOpenings, .completesLoads,
                .forgetsLinkedObjects:
                StoreCapability("reports of commits")
            case .signalsFailures: StoreCapability("signals of commits")
            default: nil
            }
        }

        /// Returns whether a store has ``neededAbility``.
        func canShow(in store: any PersistentStore) -> Bool {
            guard neededAbility != nil else { return true }
            guard let reporting = store as? any CommitReportingStore else { return false }
            // A signal without a file cannot be watched.
            return self != .signalsFailures || reporting.commitSignal?.path.isEmpty == false
        }

        /// The name as reports show it: `rounds-dates`.
        package var description: String { rawValue }
    }
}
