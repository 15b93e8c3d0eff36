#if Interactive
    internal import CEdit
    internal import Foundation
    internal import RoostCore
    internal import RoostSystem

    /// An input of typed lines on a terminal, with editing, completion and history by libedit.
    final class LineEditor: ShellInput {
        private static let historyCount: Int32 = 2000

        /// A second descriptor of the terminal, or -1.
        ///
        /// This descriptor is nonblocking: if Ctrl-C removes typed bytes after a poll, a blocking
        /// read would hang. Standard input stays blocking, because other programs share it.
        private let terminal: Int32
        private let editor: OpaquePointer
        private let list: OpaquePointer
        private let history: ShellHistory
        private let console: Console
        private let complete: (String) -> ShellCompleter.Answer
        /// The prompt as a C string, valid until the next prompt.
        private var prompt: UnsafeMutablePointer<CChar>
        /// The statement's previous lines, which completion needs besides the edited line.
        var context = ""
        /// Whether a signal or an error ended the wait for a key.
        private var wasCancelled = false

        /// Creates an editor, or returns nil if libedit cannot use the terminal.
        init?(
            _ history: ShellHistory, console: Console, complete: @escaping (String) -> ShellCompleter.Answer
        ) {
            // Without this locale, multibyte characters appear as bytes.
            if setlocale(LC_CTYPE, "C.UTF-8") == nil { _ = setlocale(LC_CTYPE, "") }
            guard let prompt = strdup(""), let list = history_init() else { return nil }
            guard let editor = cedit_make("roost", isatty(STDOUT_FILENO) == 1 ? 0 : 1) else {
                history_end(list)
                free(prompt)
                return nil
            }
            terminal = ttyname(STDIN_FILENO).map { open($0, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC) } ?? -1
            (self.editor, self.list, self.prompt) = (editor, list, prompt)
            (self.history, self.console, self.complete) = (history, console, complete)
            guard setUp() else { return nil }
            for entry in history.entries.suffix(Int(Self.historyCount)) { _ = cedit_enter(list, entry) }
        }

        deinit {
            el_end(editor)
            history_end(list)
            free(prompt)
            // Nothing was written, so an error of `close` is ignored.
            if terminal >= 0 { _ = close(terminal) }
        }

        private func setUp() -> Bool {
            // SAFETY: the editor does not retain this object, but `deinit` ends the editor before the object is freed.
            let results = [
                cedit_set_data(editor, Unmanaged.passUnretained(self).toOpaque()),
                cedit_set_history_size(list, Self.historyCount),
                cedit_set_history_unique(list, 1),
                cedit_set_prompt(editor) { LineEditor.of($0)?.prompt },
                cedit_set_mode(editor, "emacs"),
                cedit_set_signals(editor, 1),
                cedit_set_history(editor, list),
                cedit_set_reader(editor) { editor, character in
                    LineEditor.of(editor)?.read(into: character) ?? -1
                },
                cedit_add_function(editor, "roost-complete", "Complete the word") { editor, _ in
                    LineEditor.of(editor)?.completeWord() ?? UInt8(CC_ERROR)
                },
                cedit_bind(editor, "^I", "roost-complete"),
                cedit_bind(editor, "^R", "em-inc-search-prev"),
            ]
            guard results.allSatisfy({ $0 >= 0 }) else { return false }
            // Loads the user's own bindings, which can replace these. Errors are ignored.
            _ = el_source(editor, nil)
            return true
        }

        private static func of(_ editor: OpaquePointer?) -> LineEditor? {
            // SAFETY: the data is the `LineEditor` that owns the editor and frees it in `deinit`.
            editor.flatMap { cedit_data($0) }.map { Unmanaged<LineEditor>.fromOpaque($0).takeUnretainedValue() }
        }

        // MARK: Lines

        func next(_ prompt: String) throws(StoreError) -> ShellInputLine {
            guard let text = strdup(prompt) else {
                throw StoreError(.ioFailure, "The prompt needs more memory than the system gives.")
            }
            free(self.prompt)
            self.prompt = text
            wasCancelled = false
            // Prepares the terminal before the prompt, because keys can be typed early.
            _ = cedit_prepare(editor)
            var count: Int32 = 0
            guard let bytes = el_gets(editor, &count), count > 0 else {
                if Interruption.shared.takeInterrupt() {
                    console.show("^C\n")
                    return .interrupted
                }
                console.show("\n")
                if wasCancelled { try Interruption.shared.check() }
                return .end
            }
            // SAFETY: `el_gets` returns `count` bytes, which live until its next call.
            let line = UnsafeRawBufferPointer(start: bytes, count: Int(count))
            var text8 = String(decoding: line, as: UTF8.self)[...]
            while text8.last?.isNewline ?? false { text8.removeLast() }
            return .line(String(text8))
        }

        func remember(_ statement: String) {
            guard history.append(statement) else { return }
            _ = cedit_enter(list, statement)
        }

        /// Reads one character, and returns 1, 0 at the end of input, or -1 for a signal or error.
        private func read(into character: UnsafeMutablePointer<wchar_t>?) -> Int32 {
            guard let character else { return -1 }
            var bytes: [UInt8] = []
            while bytes.count < 4 {
                do throws(StoreError) {
                    // Redraws the line after another program used the terminal, or the terminal's
                    // size changed.
                    try Interruption.shared.waitForTyping(onSignal: { _ = cedit_refresh(editor) })
                } catch {
                    wasCancelled = true
                    return -1
                }
                var byte: UInt8 = 0
                // SAFETY: the buffer is one byte.
                let count = withUnsafeMutableBytes(of: &byte) {
                    SystemCalls.read(terminal >= 0 ? terminal : STDIN_FILENO, into: $0)
                }
                if count == 0 { return 0 }
                if count < 0 {
                    if errno == EINTR || errno == EAGAIN { continue }
                    return -1
                }
                // A byte that is not a continuation byte begins a new character, and discards an incomplete one.
                if byte & 0xC0 != 0x80 { bytes.removeAll() }
                bytes.append(byte)
                if let scalar = String(validating: bytes, as: UTF8.self)?.unicodeScalars.first {
                    character.pointee = wchar_t(scalar.value)
                    return 1
                }
                // A byte that cannot begin a character is left out.
                if bytes.count == 1, byte < 0xC2 || byte > 0xF4 { bytes.removeAll() }
            }
            character.pointee = 0xFFFD
            return 1
        }

        // MARK: Completion

        private func completeWord() -> UInt8 {
            guard let info = el_line(editor)?.pointee, let start = info.buffer, let cursor = info.cursor else {
                return UInt8(CC_ERROR)
            }
            // SAFETY: the text before the cursor is in the editor's buffer.
            let bytes = UnsafeRawBufferPointer(start: start, count: cursor - start)
            let answer = complete(context + String(decoding: bytes, as: UTF8.self))
            guard let first = answer.candidates.first else { return UInt8(CC_ERROR) }
            if answer.candidates.count == 1 {
                let end = answer.addsBlank ? " " : ""
                return insert(String(first.dropFirst(answer.prefixCount)) + end)
            }
            let common = answer.candidates.dropFirst().reduce(first) { $0.commonPrefix(with: $1) }
            if common.count > answer.prefixCount { return insert(String(common.dropFirst(answer.prefixCount))) }
            show(answer.candidates)
            return UInt8(CC_REDISPLAY)
        }

        private func insert(_ text: String) -> UInt8 {
            if text.isEmpty { return UInt8(CC_NORM) }
            return UInt8(el_insertstr(editor, text) == 0 ? CC_REFRESH : CC_ERROR)
        }

        private func show(_ candidates: [String]) {
            let limit = 100
            let shown = candidates.prefix(limit).map(VisibleText.of)
            let column = (shown.map { DisplayWidth.of($0) }.max() ?? 0) + 2
            let perLine = max(1, (console.tableStyle.width ?? 80) / column)
            var text = "\n"
            for (index, candidate) in shown.enumerated() {
                let isLast = index % perLine == perLine - 1 || index == shown.count - 1
                let blanks = column - DisplayWidth.of(candidate)
                text += candidate + (isLast ? "\n" : String(repeating: " ", count: blanks))
            }
            if candidates.count > limit { text += "and \(candidates.count - limit) more\n" }
            console.show(text)
        }
    }
#endif
