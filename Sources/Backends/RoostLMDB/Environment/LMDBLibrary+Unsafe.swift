internal import CLMDB
package import RoostCore

extension LMDBStoreType {
    /// The LMDB library and its version.
    package var libraries: [StoreLibrary] {
        var (major, minor, patch): (Int32, Int32, Int32) = (0, 0, 0)
        // SAFETY: the library writes three numbers and keeps no pointer.
        _ = mdb_version(&major, &minor, &patch)
        return [StoreLibrary(name: "LMDB", version: "\(major).\(minor).\(patch)")]
    }
}
