#if Macros
    // Programs that declare models in Swift need to import only this module.
    @_exported public import Roost
#endif
