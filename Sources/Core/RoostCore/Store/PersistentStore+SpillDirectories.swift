internal import RoostSystem

extension PersistentStore {
    /// The directories for data that exceeds memory, in order of preference.
    package var spillDirectories: [String] {
        guard type.capabilities.contains(.file) else { return [SpillFile.systemDirectory] }
        let directory = location.path.lastIndex(of: "/").map { String(location.path[..<$0]) } ?? "."
        return [directory.isEmpty ? "/" : directory, SpillFile.systemDirectory]
    }
}
