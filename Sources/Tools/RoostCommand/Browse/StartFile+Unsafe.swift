internal import Foundation
internal import RoostSystem

/// An HTML file that redirects a browser to an address.
///
/// If the address were an argument of the browser, the list of processes would show the address's
/// token. Only the user can read the file.
struct StartFile {
    private let path: String

    /// Writes the file, or returns nil if it cannot be written.
    ///
    /// `address` must not contain characters that require escaping in HTML.
    init?(_ address: String) {
        let folder =
            ProcessInfo.processInfo.environment["XDG_RUNTIME_DIR"] ?? FileManager.default.temporaryDirectory.path
        path = "\(folder)/roost-browse-\(UUID().uuidString).html"
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return nil }
        let text = """
            <!doctype html>
            <meta charset="utf-8">
            <meta http-equiv="refresh" content="0; url=\(address)">
            <title>Roost</title>
            <p><a href="\(address)">Open the stores</a></p>

            """
        let bytes = Array(text.utf8)
        // SAFETY: the bytes outlive the call.
        let written = bytes.withUnsafeBytes { SystemCalls.write($0, to: descriptor) }
        guard close(descriptor) == 0, written == bytes.count else {
            remove()
            return nil
        }
    }

    /// Returns whether a program that opens the browser was started.
    func openInBrowser() -> Bool {
        #if os(macOS)
            let names = ["open"]
        #else
            let names = ["xdg-open", "wslview"]
        #endif
        guard let program = SystemProgram.path(ofOneOf: names) else { return false }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = [path]
        (process.standardInput, process.standardOutput) = (FileHandle.nullDevice, FileHandle.nullDevice)
        process.standardError = FileHandle.nullDevice
        do { try process.run() } catch { return false }
        return true
    }

    /// Removes the file.
    ///
    /// A remaining file is harmless: its token was used, or the server has ended.
    func remove() { _ = unlink(path) }
}
