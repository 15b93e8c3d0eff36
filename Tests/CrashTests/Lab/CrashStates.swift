import RoostConformance

/// A tree of files that a power cut could have left.
struct CrashState {
    let files: [String: FileImage]
    /// Whether the operation had already reported success.
    let isAcknowledged: Bool
    /// The position of the power cut in the trace, and the changes that the medium kept.
    let label: String
}

/// The states, or a sample of them, in which a power cut could leave the files of a trace.
///
/// After each record there are these states (RELIABILITY §3.1), or only the first if everything is
/// flushed:
///
/// - everything that was written
/// - only flushed data
/// - the oldest 0, 1, 2, … name changes, with all data and with only flushed data
/// - random states, in which each block has any version between the flushed and the newest one
struct CrashStates {
    private static let randomVariants = 4

    private let initial: [DiskFile]
    private let trace: Trace
    private let model: DiskModel

    init(of trace: Trace, from initial: [DiskFile], model: DiskModel) {
        self.trace = trace
        self.initial = initial
        self.model = model
    }

    /// Calls `body` with each state, or with about `limit` random states, and returns their number.
    ///
    /// Equal states are passed once. States after the acknowledgement are always included. `seen`
    /// has the hashes of checked states, which are skipped; new hashes are added.
    func forEach(
        limit: Int?, seed: UInt64, except seen: inout Set<Int>, _ body: (CrashState) throws -> Void
    ) rethrows -> Int {
        var random = SeededGenerator(seed: seed)
        // Some states are equal, so more are drawn than requested.
        let total = replay { _, _, _ in }
        let chosen = limit.map { limit in Set((0..<limit * 3).map { _ in random.below(max(1, total)) }) }
        var made = 0
        _ = try replay { disk, candidate, acknowledged in
            guard acknowledged || (made < limit ?? .max && chosen?.contains(candidate.number) ?? true) else { return }
            var random = SeededGenerator(seed: seed &* 0x9E37_79B9 &+ UInt64(candidate.number))
            let (files, what) = disk.variant(candidate.variant, using: &random)
            var hasher = Hasher()
            hasher.combine(acknowledged)
            for (path, image) in files.sorted(by: { $0.key < $1.key }) {
                hasher.combine(path)
                image.contents?.combine(into: &hasher)
            }
            guard seen.insert(hasher.finalize()).inserted else { return }
            made += 1
            try body(
                CrashState(
                    files: files, isAcknowledged: acknowledged,
                    label: "after record \(candidate.record + 1), \(trace.records[candidate.record].summary): \(what)"))
        }
        return made
    }

    private struct Candidate {
        /// The position among all candidates.
        let number: Int
        let record: Int
        let variant: Int
    }

    /// Calls `body` with each candidate of the trace, and returns their number.
    private func replay(_ body: (DiskState, Candidate, Bool) throws -> Void) rethrows -> Int {
        var disk = DiskState(model, tree: initial)
        var (number, acknowledged) = (0, false)
        for (index, record) in trace.records.enumerated() {
            disk.apply(record)
            if record.kind == .marked, record.path == "ack" { acknowledged = true }
            for variant in 0..<disk.variantCount(random: Self.randomVariants) {
                try body(disk, Candidate(number: number, record: index, variant: variant), acknowledged)
                number += 1
            }
        }
        return number
    }
}

extension DiskState {
    /// Returns the number of states of the medium to examine.
    func variantCount(random: Int) -> Int { isSettled ? 1 : 3 + 2 * pendingNames.count + random }

    /// Returns a possible state of the medium with its description.
    func variant(_ number: Int, using random: inout SeededGenerator) -> (files: [String: FileImage], what: String) {
        func image(_ names: Names, _ contents: (DiskNode) -> [UInt8]) -> [String: FileImage] {
            names.mapValues { $0.image(contents) }
        }
        switch number {
        case 0: return (image(currentNames) { $0.current }, "everything")
        case 1: return (image(durableNames) { $0.durable }, "only what was flushed")
        case 2: return (image(durableNames) { $0.current }, "all data, no new names")
        case 3..<3 + 2 * pendingNames.count:
            let count = (number - 3) / 2 + 1
            var names = durableNames
            for change in pendingNames.prefix(count) { Self.apply(change, to: &names) }
            let hasData = number % 2 == 0
            return (
                image(names) { hasData ? $0.current : $0.durable },
                "\(count) of \(pendingNames.count) names, \(hasData ? "all" : "no") data"
            )
        default:
            var names = durableNames
            if model == .strict, random.below(2) == 0 {
                for change in pendingNames where random.below(2) == 0 { Self.apply(change, to: &names) }
            } else {
                for change in pendingNames.prefix(random.below(pendingNames.count + 1)) {
                    Self.apply(change, to: &names)
                }
            }
            let block = random.below(3) == 0 ? 512 : 4096
            let bias = [2, 5, 9][random.below(3)]
            // The order of names is fixed, so that a seed repeats a state. All names of a file have
            // the same content.
            var (files, torn) = ([String: FileImage](), [ObjectIdentifier: [UInt8]]())
            for (path, node) in names.sorted(by: { $0.key < $1.key }) {
                let contents =
                    torn[ObjectIdentifier(node)] ?? node.torn(block: block, bias: bias, using: &random)
                torn[ObjectIdentifier(node)] = contents
                files[path] = node.image { _ in contents }
            }
            return (files, "random blocks of \(block) bytes")
        }
    }
}

extension DiskNode {
    fileprivate func image(_ contents: (DiskNode) -> [UInt8]) -> FileImage {
        FileImage(contents: isDirectory ? nil : contents(self), node: ObjectIdentifier(self))
    }

    /// Returns the content after a cut that kept some of the unflushed blocks.
    ///
    /// `block` is the size of an atomic write. In about `bias` of ten blocks, the newest writes are
    /// missing. If a change of the size is pending, about `bias` of ten whole writes are missing
    /// instead.
    fileprivate func torn(block: Int, bias: Int, using random: inout SeededGenerator) -> [UInt8] {
        var bytes = durable
        for (offset, data) in lost where random.below(2) == 0 { Change.write(offset, data).apply(to: &bytes) }
        guard !pending.isEmpty else { return bytes }
        let kept = random.below(4) == 0 ? pending.prefix(random.below(pending.count + 1)) : pending[...]
        let resizes = pending.contains { if case .resize = $0 { true } else { false } }
        if resizes {
            // Changes of the size are applied in order; writes between them may be missing.
            for change in kept {
                if case .write = change, random.below(10) < bias { continue }
                change.apply(to: &bytes)
            }
            return bytes
        }
        var writes: [(offset: Int, data: [UInt8])] = []
        for case .write(let offset, let data) in pending { writes.append((offset, data)) }
        var size = bytes.count
        for case .write(let offset, let data) in kept { size = max(size, offset + data.count) }
        Change.resize(size).apply(to: &bytes)
        var touched = Set<Int>()
        for (offset, data) in writes where !data.isEmpty {
            touched.formUnion(offset / block...(offset + data.count - 1) / block)
        }
        for number in touched.sorted() where number * block < size {
            let newest = random.below(10) < bias ? random.below(writes.count) : writes.count
            let range = number * block..<min((number + 1) * block, size)
            for (offset, data) in writes.prefix(newest) {
                let part = range.clamped(to: offset..<offset + data.count)
                guard !part.isEmpty else { continue }
                bytes.replace(from: part.lowerBound, with: data[part.lowerBound - offset..<part.upperBound - offset])
            }
        }
        return bytes
    }
}
