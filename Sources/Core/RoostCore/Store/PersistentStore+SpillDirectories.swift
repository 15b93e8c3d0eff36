internal import RoostSystem

extension PersistentStore {
    /// Where files may be made for what does not fit into memory, the best first: beside a store that is a file, else, or where that is not
    /// allowed, where the system has its temporary files.
    package var spillDirectories: [String] {
        guard type.capabilities.contains(.file) else { return [SpillFile.systemDirectory] }
        let directory = location.path.lastIndex(of: "/").map { String(location.path[..<$0]) } ?? "."
        return [directory.isEmpty ? "/" : directory, SpillFile.systemDirectory]
    }
}
