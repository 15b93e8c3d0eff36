// `make tool` links smaller data than the data in Foundation's library. Scripts/icu-data makes the file and defines both names.
// In every other build, this file is empty. Objects are linked before libraries, so the linker does not use the library's symbol.
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
