/// The command line of the process.
enum ProgramArguments {
    /// Returns the arguments of the program, without its name.
    ///
    /// `CommandLine.arguments` replaces bytes that are not UTF-8, which could give a wrong path or
    /// value.
    static func read() throws(UsageError) -> [String] {
        var arguments: [String] = []
        // SAFETY: the system provides `argc` pointers, which live as long as the process.
        for (number, bytes) in UnsafeBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc))
            .enumerated()
        where number > 0 {
            guard let bytes, let argument = String(validatingCString: bytes) else {
                throw UsageError("argument \(number) is not UTF-8; write it in UTF-8")
            }
            arguments.append(argument)
        }
        return arguments
    }
}
