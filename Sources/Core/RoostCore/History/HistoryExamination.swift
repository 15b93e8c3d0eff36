extension HistoryEntries {
    /// Examines the whole history, and returns the first problem as a finding.
    ///
    /// Entries up to the history's start are ignored, because an interrupted removal leaves such
    /// entries.
    package func historyFindings(
        _ model: ManagedObjectModel, at generation: Generation
    ) throws(StoreError) -> [StoreFinding] {
        do throws(StoreError) {
            return try examine(model, generation: generation).map {
                [StoreFinding(.warning, message: $0, kind: "history")]
            } ?? []
        } catch  where error.code == .corrupted {
            return [StoreFinding(.damage, message: error.message, kind: "history")]
        }
    }

    /// Returns a message if the history lacks the last commits, which is not damage.
    private func examine(_ model: ManagedObjectModel, generation: Generation) throws(StoreError) -> String? {
        guard let bytes = try historySettings() else {
            if try historyPlace(from: HistoryPlace(0)) != nil {
                throw HistoryBytesReader.damaged("it has transactions, although the store does not record a history")
            }
            return nil
        }
        let settings = try HistorySettings(bytes)
        var (position, time, byteCount) = (settings.start, settings.startTime, settings.startByteCount)
        var place = try historyPlace(from: HistoryPlace(settings.start &+ 1))
        while let found = place {
            guard found == HistoryPlace(position &+ 1), found.position <= generation.number else {
                throw HistoryBytesReader.damaged("a transaction is missing or does not belong to this store")
            }
            position = found.position
            let (part, header) = try firstHistoryPart(position)
            guard header.time >= time else {
                throw HistoryBytesReader.damaged("a transaction has an earlier time than its predecessor")
            }
            guard header.precedingByteCount == byteCount else {
                throw HistoryBytesReader.damaged("the sizes of its transactions do not add up")
            }
            if byteCount == settings.startByteCount, settings.firstTime != header.time {
                throw HistoryBytesReader.damaged("the time of its first transaction does not match its settings")
            }
            time = header.time
            try examineChanges(part, model: model)
            var laterByteCount: UInt64 = 0
            for number in 1..<max(1, header.partCount) {
                let place = HistoryPlace(position, part: number)
                guard let bytes = try historyBytes(at: place) else {
                    throw HistoryBytesReader.damaged("a part of a transaction is missing")
                }
                laterByteCount += UInt64(bytes.count)
                try examineChanges(try HistoryPart(bytes, at: place), model: model)
            }
            guard laterByteCount == header.laterByteCount else {
                throw HistoryBytesReader.damaged("the sizes of its transactions do not add up")
            }
            byteCount &+= UInt64(part.byteCount) &+ laterByteCount
            place = try historyPlace(from: HistoryPlace(position, part: header.partCount))
        }
        guard position != generation.number else { return nil }
        return
            "A program without support for histories made the last commits, so they are not in the history. The next commit starts a new history."
    }

    private func examineChanges(_ part: HistoryPart, model: ManagedObjectModel) throws(StoreError) {
        var decoder = HistoryDecoder(model: model, changes: part.changes)
        try decoder.decode { _, _ in
        } links: { _, _ in
        }
    }
}
