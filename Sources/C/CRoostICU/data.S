// `make tool` links smaller data than Foundation's library has: it defines both names after Scripts/icu-data has made the file. Every other
// build has nothing here. An object comes before the libraries, so that the linker does not take the member of the library with this symbol.
#if defined(ROOST_ICU_DATA) && defined(ROOST_ICU_SYMBOL)
    .section .rodata
    .globl ROOST_ICU_SYMBOL
    .balign 16
    .type ROOST_ICU_SYMBOL, @object
ROOST_ICU_SYMBOL:
    .incbin ROOST_ICU_DATA
    .size ROOST_ICU_SYMBOL, . - ROOST_ICU_SYMBOL
#endif
#if defined(__linux__) && defined(__ELF__)
    .section .note.GNU-stack, "", %progbits
#endif
