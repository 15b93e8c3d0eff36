internal import Foundation
internal import Roost

/// The stores that operations read or copy, one for each side, type, form and size.
struct Fixtures {
    let directory: String

    /// Returns the path of a store, and creates it if it is missing or older than this program.
    ///
    /// Both sides read the same Core Data store, which C writes. They also share the JSON document
    /// and the store with tags, which Roost writes.
    func path(_ type: String, side: Side, trackCount: Int, form: TrackForm) throws -> String {
        let side: Side = type == "json" || form == .tagged ? .roost : type == "coredata" ? .baseline : side
        let name = "\(side.rawValue)-\(type)\(form == .plain ? "" : "-" + form.rawValue)-\(trackCount)"
        let place = WorkDirectory(path: "\(directory)/\(name)")
        let path = place.path + "/store"
        if let made = Self.date(path), let built = Bundle.main.executablePath.flatMap({ Self.date($0) }), made > built {
            return path
        }
        try place.clear()
        let worker = try WorkerProcess(
            ["make-fixture", side.rawValue, type, form.rawValue, "\(trackCount)", path], includesErrors: true)
        try worker.waitForSuccess()
        return path
    }

    /// Returns the time when a file was written, or nil if it does not exist.
    private static func date(_ path: String) -> Date? {
        (try? FileManager.default.attributesOfItem(atPath: path))?[.modificationDate] as? Date
    }

    /// Creates a store in a worker; the store gets its final path only when it is complete.
    static func make(_ arguments: ArraySlice<String>) throws {
        let words = Array(arguments)
        guard words.count == 5, let side = Side(rawValue: words[0]), let form = TrackForm(rawValue: words[2]),
            let trackCount = Int(words[3])
        else {
            throw BenchmarkError(
                "make-fixture takes five arguments: a side, a type, a form ('plain', 'indexed' or 'tagged'), a number of tracks and a path."
            )
        }
        let (type, path) = (words[1], words[4])
        let workload = Workload(trackCount: trackCount, destination: path + ".part")
        if side == .baseline {
            let subject = try BaselineSubject("\(type)-make\(form == .indexed ? "-indexed" : "")", workload: workload)
            try subject.open()
            _ = try subject.run(proving: false)
            subject.close()
            try FileManager.default.moveItem(atPath: workload.destination, toPath: path)
        } else {
            let workload = Workload(trackCount: trackCount, destination: path)
            let subject = try LoadingSubject(type, workload: workload, form: form)
            try subject.open()
            _ = try subject.run(proving: false)
        }
    }
}
