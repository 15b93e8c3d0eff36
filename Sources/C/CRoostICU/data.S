// `make tool` links smaller ICU data than the data in Foundation's library. Scripts/icu-data makes the data file and prints the
// flags that define both macros. Other builds define neither macro, so nothing is assembled here. Objects are linked before
// libraries, so the linker does not use the library's symbol.
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
