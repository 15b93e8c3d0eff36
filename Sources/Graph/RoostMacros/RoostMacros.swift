#if Macros
    internal import RoostExpansion

    /// The program that the compiler runs to expand the macros of `RoostModels`.
    @main
    enum RoostMacros {
        static func main() {
            var conversation = PluginConversation()
            // The compiler closes the pipe when it is finished.
            while let request = PluginPipe.read() {
                guard PluginPipe.write(conversation.reply(to: request)) else { return }
            }
        }
    }
#else
    /// The program without the trait `Macros`, which does nothing.
    @main
    enum RoostMacros {
        static func main() {}
    }
#endif
