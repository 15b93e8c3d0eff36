internal import RoostCore
internal import RoostFiles

extension StoreConversion {
    /// Returns the reasons to refuse the conversion that are known before the source is opened.
    func refusalsBeforeOpening() throws(StoreError) -> [StoreError] {
        if case .location(let location) = source { _ = try registry.type(named: location.type) }
        let type = try destinationWriter.type
        if type.capabilities.contains(.writing), isSameStore(type) {
            return [
                StoreError(
                    .invalidRequest, "The destination '\(destination.location)' is the source; choose another path.")
            ]
        }
        return try destinationWriter.refusals()
    }

    /// Returns the reasons why the destination cannot receive the content of the opened source.
    func refusals(of source: any PersistentStore, for model: ManagedObjectModel) throws(StoreError) -> [StoreError] {
        if let refusal = try destinationWriter.refusals(for: model).first { return [refusal] }
        guard let available = try destinationWriter.bytesAvailable() else { return [] }
        let needed = try bytesNeeded(source)
        let (total, overflow) = needed.addingReportingOverflow(options.reservedBytes)
        guard !overflow, total <= available else {
            return [
                StoreError(
                    .noSpace,
                    "There is not enough space for '\(destination.location.path)': about \(needed) bytes are needed and \(options.reservedBytes) must stay free, but only \(available) are free. Make room or choose another disk."
                )
            ]
        }
        return []
    }

    /// Returns the expected size of the destination in bytes: the source's size plus a fifth.
    func bytesNeeded(_ source: any PersistentStore) throws(StoreError) -> Int {
        let bytes = try source.byteCount()
        let (sum, overflow) = bytes.addingReportingOverflow(bytes / 5)
        return overflow ? .max : sum
    }

    /// Returns whether both ends are one store; two open stores are compared by identity.
    private func isSameStore(_ type: any PersistentStoreType) -> Bool {
        if case .store(let left) = source, case .store(let right) = destination { return left === right }
        if source.location == destination.location, !source.location.path.isEmpty { return true }
        let sourceType: (any PersistentStoreType)?
        switch source {
        case .location(let location): sourceType = try? registry.type(named: location.type)
        case .store(let store): sourceType = store.type
        }
        guard let sourceType, sourceType.capabilities.contains(.file), type.capabilities.contains(.file) else {
            return false
        }
        return StoreFile.sameFile(source.location.path, destination.location.path)
    }
}
