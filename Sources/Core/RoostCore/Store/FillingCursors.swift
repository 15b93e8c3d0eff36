/// A record cursor that handles its end, errors and damaged records around the filling of batches.
///
/// A subclass overrides ``fill(_:)``, and usually ``requireOpen()``. The class itself has no
/// records.
open class FillingRecordCursor: RecordCursor {
    private let model: ManagedObjectModel
    private var isAtEnd = false
    /// An error that waits until the records before it were handed out.
    private var pendingError: StoreError?

    /// Creates a cursor over records of a model.
    public init(model: ManagedObjectModel) { self.model = model }

    /// Throws code `closed` where the snapshot or the store was closed; the default throws nothing.
    open func requireOpen() throws(StoreError) {}

    /// Adds the next records to an empty batch until it is full.
    ///
    /// - Returns: Whether there may be more.
    /// - Throws: What keeps a record from being read. Where the error names a damaged object, the
    ///   records before it are handed out first, and the next call continues after it. Any other
    ///   error is the cursor's end.
    open func fill(_ batch: inout RecordBatch) throws(StoreError) -> Bool { false }

    /// Releases what reading needs; called once, at the end or after an error that is the end.
    open func finish() {}

    /// Ends the cursor: the records of the batch go out first, then the error.
    package final func end(with error: StoreError) {
        pendingError = error
        end()
    }

    private func end() {
        guard !isAtEnd else { return }
        isAtEnd = true
        finish()
    }

    /// Replaces the contents of `batch` by the next records.
    public final func next(into batch: inout RecordBatch) throws(StoreError) -> Bool {
        try batch.requireModel(model)
        batch.removeAll()
        try requireOpen()
        if pendingError == nil, !isAtEnd {
            do throws(StoreError) {
                if try !fill(&batch) { end() }
            } catch {
                guard error.damagedObject != nil else {
                    batch.removeAll()
                    end()
                    throw error
                }
                pendingError = error
            }
        }
        if batch.isEmpty, let error = pendingError {
            pendingError = nil
            throw error
        }
        return !batch.isEmpty
    }
}

/// A link cursor that handles its end and errors around the filling of batches.
///
/// A subclass overrides ``fill(_:)``, and usually ``requireOpen()``. The class itself has no links.
open class FillingLinkCursor: LinkCursor {
    /// The number of the relationship.
    package let relationship: Int
    private var isAtEnd = false

    /// Creates a cursor over links of the relationship with a number.
    public init(relationship: Int) { self.relationship = relationship }

    /// Throws code `closed` where the snapshot or the store was closed; the default throws nothing.
    open func requireOpen() throws(StoreError) {}

    /// Adds the next links to an empty batch until it is full.
    ///
    /// - Returns: Whether there may be more.
    /// - Throws: What keeps a link from being read, which is the cursor's end.
    open func fill(_ batch: inout LinkBatch) throws(StoreError) -> Bool { false }

    /// Releases what reading needs; called once, at the end or after an error.
    open func finish() {}

    private func end() {
        isAtEnd = true
        finish()
    }

    /// Replaces the links of `batch` by the next ones.
    public final func next(into batch: inout LinkBatch) throws(StoreError) -> Bool {
        batch.removeAll()
        batch.relationship = relationship
        try requireOpen()
        guard !isAtEnd else { return false }
        do throws(StoreError) {
            if try !fill(&batch) { end() }
        } catch {
            batch.removeAll()
            end()
            throw error
        }
        return !batch.isEmpty
    }
}
