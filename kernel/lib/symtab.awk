# From "nm -n" of the first link: a table of text symbols for panic backtraces (lib/symbols.c).
$2 ~ /^[tTwW]$/ && $3 !~ /^(\.L|\$|__text_|__kernel_start)/ && $1 != last {
    last = $1
    n++
    address[n] = $1
    name[n] = $3
}
END {
    print ".section .symtab_compact, \"a\""
    print ".globl symtab_count, symtab_start, symtab_names, symtab_text"
    print ".balign 8\nsymtab_count: .quad " n
    print "symtab_start:"
    for (i = 1; i <= n; i++)
        print ".word 0x" substr(address[i], 9) ", name" i " - symtab_text"
    print "symtab_names:\nsymtab_text:"
    for (i = 1; i <= n; i++)
        print "name" i ": .asciz \"" name[i] "\""
}
