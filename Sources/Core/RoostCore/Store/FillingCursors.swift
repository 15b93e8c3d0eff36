/// A base class for record cursors, which handles the end, errors and damaged records.
///
/// A subclass overrides ``fill(_:)``, and usually ``requireOpen()``.
open class FillingRecordCursor: RecordCursor {
    private let model: ManagedObjectModel
    private var isAtEnd = false
    /// An error to throw after the preceding records have been returned.
    private var pendingError: StoreError?

    /// Creates a cursor over records of a model.
    public init(model: ManagedObjectModel) { self.model = model }

    /// Throws `closed` if the snapshot or the store is closed.
    ///
    /// Does nothing by default.
    open func requireOpen() throws(StoreError) {}

    /// Adds the next records to an empty batch until the batch is full.
    ///
    /// - Returns: Whether there may be more records.
    /// - Throws: An error if a record cannot be read. If the error has a damaged object, the cursor
    ///   first returns the records before the object. The next call must continue after the object.
    ///   Any other error ends the cursor.
    open func fill(_ batch: inout RecordBatch) throws(StoreError) -> Bool { false }

    /// Releases the cursor's resources.
    ///
    /// Called once, when the cursor ends.
    open func finish() {}

    /// Ends the cursor with an error, which is thrown after the current batch was returned.
    package final func end(with error: StoreError) {
        pendingError = error
        end()
    }

    private func end() {
        guard !isAtEnd else { return }
        isAtEnd = true
        finish()
    }

    /// Replaces the contents of `batch` with the next records.
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

/// A base class for link cursors, which handles the end and errors.
///
/// A subclass overrides ``fill(_:)``, and usually ``requireOpen()``.
open class FillingLinkCursor: LinkCursor {
    package let relationship: Int
    private var isAtEnd = false

    /// Creates a cursor over links of the relationship with the given number.
    public init(relationship: Int) { self.relationship = relationship }

    /// Throws `closed` if the snapshot or the store is closed.
    ///
    /// Does nothing by default.
    open func requireOpen() throws(StoreError) {}

    /// Adds the next links to an empty batch until the batch is full.
    ///
    /// - Returns: Whether there may be more links.
    /// - Throws: An error if a link cannot be read. The error ends the cursor.
    open func fill(_ batch: inout LinkBatch) throws(StoreError) -> Bool { false }

    /// Releases the cursor's resources.
    ///
    /// Called once, when the cursor ends.
    open func finish() {}

    private func end() {
        isAtEnd = true
        finish()
    }

    /// Replaces the contents of `batch` with the next links.
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
